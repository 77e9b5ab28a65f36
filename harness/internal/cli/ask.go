package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/transcript"
)

// asker asks the person at the terminal whether a call may be made, one call at a
// time. Anything but yes is a no.
type asker struct {
	sys   IO
	clear func() // takes away what stands in the way of a question

	mu    sync.Mutex
	lines chan string // what the person types; closed at the end of it
}

// newAsker gives nil when nobody is there: without a terminal to ask at, or with
// several scenarios at once, whose questions nobody could tell apart.
func newAsker(sys IO, parallel int) *asker {
	if !sys.InTerminal || !sys.ErrTerminal || parallel > 1 {
		return nil
	}
	return &asker{sys: sys, clear: func() {}}
}

func (a *asker) ask(ctx context.Context, c tool.Call) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lines == nil {
		a.lines = make(chan string)
		go a.read()
	}
	a.clear()
	_, _ = fmt.Fprintf(a.sys.Stderr, "the agent wants to call %s %s\napprove? [y/N] ", transcript.Safe(c.Tool), transcript.Safe(string(c.Args)))
	select {
	case line := <-a.lines:
		answer := strings.ToLower(strings.TrimSpace(line))
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		return false, failure.Wrap(failure.Interrupted, ctx.Err())
	}
}

// read hands over lines, so that a question does not outlive its run.
func (a *asker) read() {
	defer close(a.lines)
	in := bufio.NewScanner(a.sys.Stdin)
	for in.Scan() {
		a.lines <- in.Text()
	}
}
