package fault

import (
	"context"
	"errors"

	"github.com/retake-harness/retake/harness/tool"
)

// crashAfterEffect is a host that dies between an effect and its record. In real
// life the process is evicted, and whoever finds the task starts it again. Without
// a record of what was done only the key can tell: the task is run again with the
// same id, so a right host makes the same key.
var crashAfterEffect = Fault{
	Name:   "host.crash_after_effect",
	What:   "the host dies when a write has had its effect, and the task is begun again",
	Breaks: "what was done before is done a second time",
	Right:  "same task id, same keys; one effect in the end",
	declared: func(d *tool.Decl) string {
		if !d.Writes() {
			return "the tool only reads"
		}
		return ""
	},
	tool: func(ctx context.Context, s *toolStrike) (tool.Result, error) {
		if res, err := s.work(ctx); err != nil {
			return res, err
		}
		s.injector.crash()
		return tool.Result{}, ErrCrashed
	},
}

// ErrCrashed is what comes of all that a host does when it has died.
var ErrCrashed = errors.New("the host has crashed")

// crash ends the run's host until the task is begun again.
func (i *Injector) crash() {
	i.mu.Lock()
	i.down = true
	i.crashes++
	i.mu.Unlock()
	if i.opts.Crash != nil {
		i.opts.Crash()
	}
}

// Crashed tells whether the host is down.
func (i *Injector) Crashed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.down
}
