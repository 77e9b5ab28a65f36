package drillfile

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/world"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/commandtool"
	"github.com/retake-harness/retake/harness/tool/httptool"
)

// instance is what runs on a state: the servers' programs, and sessions with them.
type instance struct {
	state   *state
	start   drill.Start
	as      *scenario.Principal // nil: nobody in particular
	probe   effect.Probe
	servers map[string]*world.Server
	held    chan struct{}
	once    sync.Once

	mu    sync.Mutex
	shut  []func()
	execs map[string]tool.Executor // by the tool's name
}

// Open starts the servers.
func (s *state) Open(ctx context.Context, start drill.Start) (drill.Instance, error) {
	i := &instance{
		state: s, start: start, as: s.target.principal(start.Principal), servers: map[string]*world.Server{},
		held: make(chan struct{}), execs: map[string]tool.Executor{},
	}
	if err := i.open(ctx); err != nil {
		i.Close()
		return nil, err
	}
	return i, nil
}

func (i *instance) open(ctx context.Context) (err error) {
	for name, spec := range i.state.target.servers {
		server, err := world.StartServer(ctx, spec, i.state.target.options, world.Start{
			Scratch: i.state.scratch, Env: hooks(i.start), Listen: i.listen,
		})
		if err != nil {
			return err
		}
		i.servers[name] = server
		if _, err := server.Session(i.as); err != nil {
			return err
		}
		if name == i.state.target.place.Server {
			i.state.address = server.Address()
		}
	}
	i.probe, err = i.counter()
	return err
}

func (i *instance) listen(line string) {
	if i.start.HoldAt != "" && line == scenario.HeldLine+string(i.start.HoldAt) {
		i.once.Do(func() { close(i.held) })
	}
}

// Held is closed when the server has said that it stands still.
func (i *instance) Held() <-chan struct{} { return i.held }

// Kill ends the programs at once.
func (i *instance) Kill() { i.end((*world.Server).Kill) }

// Close ends them in good form.
func (i *instance) Close() { i.end((*world.Server).Close) }

func (i *instance) end(server func(*world.Server)) {
	for _, s := range i.servers {
		server(s)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, f := range i.shut {
		f()
	}
	i.shut = nil
}

// Count counts the effects.
func (i *instance) Count(ctx context.Context) (int, error) { return i.probe.Count(ctx) }

// Execute makes the call where its tool is.
func (i *instance) Execute(ctx context.Context, c tool.Call) (tool.Result, error) {
	x, err := i.executor(c.Tool)
	if err != nil {
		return tool.Result{}, err
	}
	c.Args = world.InScratch(c.Args, i.state.scratch)
	return x.Execute(ctx, c)
}

func (i *instance) executor(name string) (tool.Executor, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if x := i.execs[name]; x != nil {
		return x, nil
	}
	t := i.state.target
	place, elsewhere := t.places[name]
	if !elsewhere {
		place = t.place
		if name != t.probe.Of {
			place.Tool = ""
		}
		if name != t.probe.Of && place.Server == "" {
			return nil, failure.Errorf(failure.ScenarioInvalid, "%s: nothing says where the tool %q is; name its place under places", t.file, name)
		}
	}
	place.Tool = cmp.Or(place.Tool, name)
	x, err := i.at(place)
	if err == nil {
		i.execs[name] = x
	}
	return x, err
}

func (i *instance) at(place scenario.Run) (tool.Executor, error) {
	switch {
	case place.HTTP != nil:
		return i.endpoint(place.HTTP, i.state.target.key)
	case place.Command != nil:
		values := map[string]string{scenario.Scratch: i.state.scratch}
		return commandtool.New(commandtool.Command{
			Args: world.Fill(place.Command.Args, values), Env: world.Filled(slices.Concat(place.Command.Env, i.own().Env), values), Dir: i.state.target.options.Dir,
		}, i.state.target.options.Getenv)
	}
	session, err := i.servers[place.Server].Session(i.as)
	if err != nil {
		return nil, err
	}
	return session.As(place.Tool), nil
}

// own are the principal's settings.
func (i *instance) own() scenario.Principal {
	if i.as == nil {
		return scenario.Principal{}
	}
	return *i.as
}

func (i *instance) endpoint(h *scenario.HTTP, key *tool.Key) (tool.Executor, error) {
	x, err := httptool.New(httptool.Endpoint{Method: h.Method, URL: h.URL, Key: key, Headers: slices.Concat(h.Headers, i.own().Headers)}, i.state.target.options.Getenv)
	if err != nil {
		return nil, err
	}
	i.shut = append(i.shut, x.Close)
	return x, nil
}

// counter makes what counts.
func (i *instance) counter() (effect.Probe, error) {
	p := i.state.target.probe
	switch {
	case p.SQL != nil:
		if i.state.db == nil {
			db, err := world.OpenDatabase(p.SQL, i.state.scratch, i.state.target.options.Getenv)
			if err != nil {
				return nil, err
			}
			i.state.db = db
		}
		return effect.SQL{DB: i.state.db, Query: p.SQL.Query}, nil
	case p.HTTP != nil:
		x, err := i.endpoint(p.HTTP, nil)
		return effect.Answer{Exec: x, Call: tool.Call{Tool: p.HTTP.URL, Args: []byte("{}")}, Pointer: p.Pointer, Matches: p.Matches}, err
	}
	exec := tool.Executor(i)
	if p.Tool.Server != "" {
		session, err := i.servers[p.Tool.Server].Session(i.as)
		if err != nil {
			return nil, err
		}
		exec = session
	}
	return effect.Answer{Exec: exec, Call: tool.Call{Tool: p.Tool.Name, Args: world.InScratch(p.Tool.Args, i.state.scratch)}, Pointer: p.Pointer, Matches: p.Matches}, nil
}
