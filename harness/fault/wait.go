package fault

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

const aMinute = time.Minute

func orDefault(d, otherwise time.Duration) time.Duration { return cmp.Or(d, otherwise) }

// silent is how long a fault has to wait that gives no answer: the delay that was
// asked for, or less where the tool's timeout ends it. Without a delay it is no
// matter how long nobody answers, and on a real clock the cap will do.
func silent(p Params, timeout time.Duration) time.Duration {
	if timeout > 0 {
		return min(timeout, p.Delay)
	}
	return p.Delay
}

// tooLong says that a fault would have to wait longer than a real clock allows; ""
// when it would not.
func (i *Injector) tooLong(a *armed, timeout time.Duration) string {
	if i.opts.Clock != clock.ModeReal {
		return ""
	}
	return a.fault.TooLong(a.Params, timeout, i.opts.RealWaitCap)
}

// TooLong says why the fault is not applicable on a real clock that is waited for
// at most: the wait with these parameters, at a tool with this timeout; "" when it
// is.
func (f *Fault) TooLong(p Params, timeout, most time.Duration) string {
	if f.Waits == nil {
		return ""
	}
	if d := f.Waits(p, timeout); d > most {
		return fmt.Sprintf("not applicable: real clock: it waits %v, and at most %v are waited for", d, most)
	}
	return ""
}

// silence gives no answer: it waits for the caller's deadline, and when there is
// none before the delay, the tool's own client gives up.
func (s *toolStrike) silence(ctx context.Context) (tool.Result, error) {
	d := orDefault(s.params().Delay, aMinute)
	if err := s.injector.wait(ctx, d); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Err: &tool.Error{
		Code: tool.CodeTimeout, Message: "the tool did not answer in time", Retryable: true,
		Class: failure.ToolTimeout, Detail: fmt.Sprintf("no answer after %v", d),
	}}, nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}
