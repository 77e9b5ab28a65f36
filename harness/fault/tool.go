package fault

import (
	"context"

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
	began := clock.Now(ctx)
	s := &toolStrike{injector: i, spec: spec, call: c, next: next, at: at}
	for _, a := range i.armed {
		if a.fault.tool == nil && a.fault.rework == nil || !i.toolDue(a, at, n) {
			continue
		}
		s.armed = a
		if why := i.tooLong(a, spec.Decl.Timeout); why != "" {
			i.misfit(a, at, why)
			continue
		}
		p := Place{Side: SideTool, Call: n.ofTool, Spec: spec, Args: string(c.Args), Siblings: i.siblings(c.ID)}
		if a.fault.answered || a.fault.rework != nil {
			res, err := s.work(ctx)
			if err != nil {
				return res, err
			}
			p.Result = res
		}
		content, why := a.fault.fitting(&p, &a.Spec)
		if why != "" {
			i.misfit(a, at, why)
			continue
		}
		i.struck(began, a, at)           // before: the fault may panic
		i.shows(c.Ordinal, a.fault.Seen) // for now: the fault may panic
		if a.fault.rework != nil {
			return tool.Result{Content: content}, nil
		}
		res, err := a.fault.tool(ctx, s)
		i.shows(c.Ordinal, a.fault.Seen && (ctx.Err() != nil || !s.worked || res.Err != nil || res.Content != s.result.Content))
		return res, err
	}
	i.shows(c.Ordinal, false)
	res, err := s.work(ctx)
	if i.opts.Survey && err == nil && c.Attempt == 1 {
		i.survey(Place{Side: SideTool, Call: n.ofTool, Spec: spec, Args: string(c.Args), Result: res, Siblings: i.siblings(c.ID)})
	}
	return res, err
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
