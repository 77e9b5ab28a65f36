package fault

import (
	"context"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/tool"
)

// number is which call of its tool, and of all, a call is.
type number struct{ ofTool, ofAll int }

// Tool wraps the executor of a tool, which is counted in whatever order the model
// made the calls.
func (i *Injector) Tool(spec *tool.Spec) tool.Executor {
	i.mu.Lock()
	i.specs[spec.Decl.Name] = spec
	i.mu.Unlock()
	next := i.fromOriginals(spec.Exec)
	return tool.ExecutorFunc(func(ctx context.Context, c tool.Call) (tool.Result, error) {
		return i.execute(ctx, spec, next, c)
	})
}

// count gives a call its numbers: those that the model's answer gave it, else the
// next ones.
func (i *Injector) count(c tool.Call) number {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n, ok := i.known[c.Ordinal]; ok {
		return n
	}
	n, ok := i.byID[c.ID]
	if !ok || c.ID == "" {
		n = i.next(c.Tool)
	}
	i.known[c.Ordinal] = n
	return n
}

// next counts one more call. The lock is held.
func (i *Injector) next(name string) number {
	i.toolCalls[""]++
	i.toolCalls[name]++
	return number{i.toolCalls[name], i.toolCalls[""]}
}

func (i *Injector) execute(ctx context.Context, spec *tool.Spec, next tool.Executor, c tool.Call) (tool.Result, error) {
	if i.Crashed() {
		return tool.Result{}, ErrCrashed
	}
	n := i.count(c)
	at := Address{Tool: c.Tool, Call: n.ofTool, Attempt: c.Attempt}
	s := &toolStrike{injector: i, spec: spec, call: c, next: next, at: at, began: clock.Now(ctx)}
	for _, a := range i.armed {
		if a.fault.tool == nil && a.fault.rework == nil || !i.toolDue(a, at, n) {
			continue
		}
		if res, struck, err := s.strike(ctx, a, n); struck || err != nil {
			return res, err
		}
	}
	i.shows(c.Ordinal, false)
	res, err := s.work(ctx)
	if i.opts.Survey && err == nil && c.Attempt == 1 {
		p := s.place(n)
		p.Result = res
		i.survey(p)
	}
	return res, err
}

// strike lets the armed fault strike, unless it does not fit.
func (s *toolStrike) strike(ctx context.Context, a *armed, n number) (res tool.Result, struck bool, err error) {
	i := s.injector
	s.armed = a
	if why := i.tooLong(a, s.spec.Decl.Timeout); why != "" {
		i.misfit(a, s.at, why)
		return res, false, nil
	}
	p := s.place(n)
	if a.fault.answered || a.fault.rework != nil {
		if p.Result, err = s.work(ctx); err != nil {
			return p.Result, false, err
		}
	}
	content, why := a.fault.fitting(&p, &a.Spec)
	if why != "" {
		i.misfit(a, s.at, why)
		return res, false, nil
	}
	i.struck(s.began, a, s.at)            // before: the fault may panic
	i.shows(s.call.Ordinal, a.fault.Seen) // for now: the fault may panic
	if a.fault.rework != nil {
		return tool.Result{Content: content}, true, nil
	}
	res, err = a.fault.tool(ctx, s)
	i.shows(s.call.Ordinal, a.fault.Seen && (ctx.Err() != nil || !s.worked || res.Err != nil || res.Content != s.result.Content))
	return res, true, err
}

func (s *toolStrike) place(n number) Place {
	return Place{Side: SideTool, Call: n.ofTool, Spec: s.spec, Args: string(s.call.Args), Siblings: s.injector.siblings(s.call.ID)}
}

func (i *Injector) toolDue(a *armed, at Address, n number) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if a.At.Tool == "" && a.At.Call > 0 {
		at.Call = n.ofAll
	}
	return i.due(a, at)
}

func (i *Injector) siblings(id string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.turns[id]
}

func (i *Injector) survey(p Place) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.places = append(i.places, p)
}

// toolStrike is one attempt at a tool call that a fault strikes.
type toolStrike struct {
	injector *Injector
	spec     *tool.Spec
	call     tool.Call
	next     tool.Executor
	at       Address
	began    time.Duration
	armed    *armed

	worked bool // the tool has done its work, and what came of it
	result tool.Result
	err    error
}

func (s *toolStrike) params() Params { return s.armed.Params }

// work lets the tool do what it was asked for, once in an attempt.
func (s *toolStrike) work(ctx context.Context) (tool.Result, error) {
	if !s.worked {
		s.worked = true
		s.result, s.err = s.deliver(ctx)
	}
	return s.result, s.err
}

// deliver brings the request to the tool, each time anew.
func (s *toolStrike) deliver(ctx context.Context) (tool.Result, error) {
	return s.next.Execute(ctx, s.call)
}

// failing answers with the error, on the side of the effect that the spec asks
// for: before it, unless the spec says after.
func (s *toolStrike) failing(ctx context.Context, e *tool.Error) (tool.Result, error) {
	if err := s.reach(ctx); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Err: e}, nil
}

// reach goes to the side of the effect that the spec asks for.
func (s *toolStrike) reach(ctx context.Context) error {
	if s.params().Effect != After {
		return nil
	}
	_, err := s.work(ctx)
	return err
}

// effectParam is taken by the faults that may strike on either side of the
// effect.
func effectParam() Param { return Param{"effect", "before the tool's work is done"} }
