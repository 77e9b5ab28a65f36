// Package mcpproxy stands between a client of the Model Context Protocol and its
// server, so that the tools of an agent which knows nothing of retake can be
// recorded, replayed and broken.
//
// It works on messages, not on what they mean: what a client sends goes on as it
// came, and so does what the server says, requests of its own and news of progress
// among them. Only three kinds are looked at. The answer to initialize and the
// list of tools are kept in a recording; a call of a tool goes through the same
// seam as everywhere: faults, then the recorder, then the server, or the cassette
// in its place. An answer that no fault has changed is given to the client word
// for word, isError, structuredContent and pictures included.
//
// In replay nothing is started and nothing is dialled. A call without a recording
// is an error result that names the nearest, and is told by Report.
//
// One Proxy may serve several clients, one after the other or at once. Each has a
// connection to a server of its own.
package mcpproxy

import (
	"context"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/tool"
)

// Options say what a proxy does with the calls that pass.
type Options struct {
	// Connect makes a connection to the server for one client; it lives as long as
	// ctx, and until it is closed. nil with Replay.
	Connect func(ctx context.Context) (mcp.Connection, error)
	// Replay answers from a cassette of tools instead.
	Replay *cassette.File
	// Record keeps the calls of all clients; nil keeps none. It excludes Replay and
	// Faults.
	Record *Recording
	// Faults strike the calls of tools.
	Faults []fault.Spec
	Seed   uint64
	// RealWaitCap is the longest wait of a fault; 0 is 2 s.
	RealWaitCap time.Duration
	// Warn gets what stops nothing, a sentence each; nil: nobody is told.
	Warn func(text string)
}

const defaultRealWaitCap = 2 * time.Second

// Proxy serves clients.
type Proxy struct {
	opts   Options
	faults *fault.Injector
	replay *replay                // nil when there is a server
	record *cassette.ToolRecorder // nil where nothing is recorded

	mu      sync.Mutex
	ordinal int
	tools   listing
	seams   map[string]tool.Executor // the faults around each tool
}

// New prepares a proxy. A wrong option is of class scenario_invalid, a cassette
// that is none of tools of class cassette_invalid.
func New(o Options) (*Proxy, error) {
	if o.RealWaitCap == 0 {
		o.RealWaitCap = defaultRealWaitCap
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	p := &Proxy{opts: o, seams: map[string]tool.Executor{}}
	if err := p.arm(); err != nil {
		return nil, err
	}
	if o.Record != nil {
		return p, p.begin(*o.Record)
	}
	if o.Replay == nil {
		return p, nil
	}
	var err error
	p.replay, err = newReplay(o.Replay, len(o.Faults) > 0)
	if err == nil {
		p.tools = p.replay.tools
		if p.replay.guessed {
			o.Warn("the recording has no list of tools; those that it has calls of are listed, without their schemas")
		}
	}
	return p, err
}

func (p *Proxy) arm() error {
	for _, s := range p.opts.Faults {
		f, ok := fault.Lookup(s.Name)
		switch {
		case !ok:
			return s.Check()
		case f.Side() != fault.SideTool:
			return failure.Errorf(failure.ScenarioInvalid, "fault %q strikes the %s, which does not pass here; take one whose name begins with tool.; see: retake faults", s.Name, f.Side())
		case p.opts.Record != nil:
			return failure.Errorf(failure.ScenarioInvalid, "fault %q while recording: what a fault did would be taken for the tool's own; record without faults, they can strike in every replay", s.Name)
		}
	}
	var err error
	p.faults, err = fault.New(p.opts.Faults, fault.Options{Seed: p.opts.Seed, Clock: clock.ModeReal, RealWaitCap: p.opts.RealWaitCap})
	return err
}

// seam is what a call of the tool goes through: the faults, and behind them work.
func (p *Proxy) seam(name string) tool.Executor {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.seams[name]; ok {
		return e
	}
	d := p.tools.decl(name)
	var exec tool.Executor = tool.ExecutorFunc(work)
	if p.record != nil {
		exec = p.record
	}
	e := p.faults.Tool(&tool.Spec{Decl: d, Exec: exec})
	p.seams[name] = e
	return e
}

// listed takes over a list of tools that the server has given.
func (p *Proxy) listed(page jsontext.Value, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tools.add(page, first)
	clear(p.seams) // what is known of the tools has changed
}

func (p *Proxy) hello(result jsontext.Value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tools.hello = result.Clone()
}

func (p *Proxy) next() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ordinal++
	return p.ordinal
}

// Report is what is to be told when the clients are gone.
type Report struct {
	Misses   []string      // calls without a recording
	Unplayed []string      // recordings that nobody asked for
	Idle     []fault.Fired // faults that never struck
}

// Report tells what came of all clients so far.
func (p *Proxy) Report() Report {
	var r Report
	if p.replay != nil {
		r.Misses, r.Unplayed = p.replay.left()
	}
	for _, f := range p.faults.Fired() {
		if f.Times == 0 {
			r.Idle = append(r.Idle, f)
		}
	}
	return r
}
