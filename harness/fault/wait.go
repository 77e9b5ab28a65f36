package fault

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

const aMinute = time.Minute

func orDefault(d, otherwise time.Duration) time.Duration { return cmp.Or(d, otherwise) }

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
