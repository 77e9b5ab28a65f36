package drill

import (
	"context"

	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/tool"
)

// InProcess is a Target of Go funcs. Nothing in this process can be killed, so rows
// with a crash do not apply to it.
type InProcess struct {
	// NewState makes an empty state; nil: the state is the funcs' own affair.
	NewState func(ctx context.Context) (state any, err error)
	// Open makes the tools on a state, and what counts their effects. What they
	// remember beyond the state is lost at a restart.
	Open func(ctx context.Context, state any, s Start) (tool.Executor, effect.Probe, error)
	// Abilities say what Open honours: Clock, Fail, Principals. Restart and Together
	// need a NewState that Open keeps everything in.
	Abilities Abilities
}

// Can is what can be done without killing.
func (p InProcess) Can() Abilities {
	a := p.Abilities
	a.Kill, a.Points, a.Entrance = false, nil, false
	a.Remembers = a.Remembers || p.NewState == nil
	return a
}

// World makes a state.
func (p InProcess) World(ctx context.Context) (World, error) {
	w := &inProcessWorld{open: p.Open}
	if p.NewState == nil {
		return w, nil
	}
	var err error
	w.state, err = p.NewState(ctx)
	return w, err
}

type inProcessWorld struct {
	open  func(ctx context.Context, state any, s Start) (tool.Executor, effect.Probe, error)
	state any
}

func (w *inProcessWorld) Open(ctx context.Context, s Start) (Instance, error) {
	x, p, err := w.open(ctx, w.state, s)
	if err != nil {
		return nil, err
	}
	return &inProcess{Executor: x, Probe: p}, nil
}

func (w *inProcessWorld) Close() {}

// inProcess is never held, and nothing of it has to be ended.
type inProcess struct {
	tool.Executor
	effect.Probe
}

func (*inProcess) Held() <-chan struct{} { return nil }
func (*inProcess) Kill()                 {}
func (*inProcess) Close()                {}
