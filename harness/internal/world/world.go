// Package world starts what a scenario's tools run on: MCP servers, endpoints,
// commands. All of it belongs to one run and ends with it, so that no run finds
// what another one has left.
package world

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/commandtool"
	"github.com/retake-harness/retake/harness/tool/httptool"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// Options say what the tools are given. The zero value gives them nothing.
type Options struct {
	Dir string // where programs run; "" is the working directory
	// Getenv gives what places take from the environment, and to programs PATH and
	// HOME.
	Getenv func(string) string
	// Secret tells whether a variable is known as a secret, so that what is written
	// is kept free of it.
	Secret func(name string) bool
	// Config is the file in which secrets are declared, for messages.
	Config string
	// Shared is what the runs of one invocation share; nil: nothing.
	Shared *Shared
}

// CheckSecrets refuses variables of the environment, which the file gives to tools,
// that are not known as secrets.
func (o *Options) CheckSecrets(file string, variables []string) error {
	for _, name := range variables {
		if o.Secret == nil || !o.Secret(name) {
			return failure.Errorf(failure.ScenarioInvalid, "%s: a tool is given the environment variable %s, which is not declared as a secret; write its owner into %s, under secrets",
				file, name, cmp.Or(o.Config, scenario.Config))
		}
	}
	return nil
}

// Open starts what the scenario's tools run on. The servers live until Close, or
// until ctx ends. An error is of class world, or of scenario_invalid where the
// scenario says what is not so.
func Open(ctx context.Context, s *scenario.Scenario, o Options) (*harness.Tools, error) {
	if err := o.CheckSecrets(s.File, s.FromEnv()); err != nil {
		return nil, err
	}
	w := &world{options: o, servers: map[string]*Server{}, principals: map[string]*scenario.Principal{}}
	t, err := w.open(ctx, s)
	if err != nil {
		w.close()
		return nil, err
	}
	return t, nil
}

type world struct {
	options    Options
	scratch    string // "" until somebody needs it
	servers    map[string]*Server
	principals map[string]*scenario.Principal
	first      string // the principal of the first turn
	shut       []func()
}

// close ends what was started, the last first.
func (w *world) close() {
	for _, f := range slices.Backward(w.shut) {
		f()
	}
	w.shut = nil
}

func (w *world) open(ctx context.Context, s *scenario.Scenario) (*harness.Tools, error) {
	if err := w.prepare(ctx, s); err != nil {
		return nil, failure.Errorf(failure.Of(err), "%s: %w", s.File, err)
	}
	found := map[string][]tool.Decl{}
	for _, server := range s.Servers {
		decls, err := w.connect(ctx, server, s)
		if err != nil {
			return nil, failure.Errorf(failure.Of(err), "%s: %w", s.File, err)
		}
		found[server.Name] = decls
	}
	full, err := s.WithServerTools(found)
	if err != nil {
		return nil, err
	}
	t := &harness.Tools{Scenario: full, Executors: map[string]tool.Executor{}, Probes: map[string]effect.Probe{}, Scratch: w.scratch, Close: w.close}
	for i := range full.Tools {
		d := &full.Tools[i]
		r := full.Runs[d.Name]
		if !r.Real() {
			continue
		}
		if t.Executors[d.Name], err = w.executor(d, r); err != nil {
			return nil, failure.Errorf(failure.Of(err), "%s: tool %q: %w", s.File, d.Name, err)
		}
	}
	for i := range full.Probes {
		p := &full.Probes[i]
		if t.Probes[p.Of], err = w.probe(p, t.Executors); err != nil {
			return nil, failure.Errorf(failure.Of(err), "%s: %w", full.Place("effects."+p.Of), err)
		}
	}
	return t, nil
}

// prepare waits for the run's turn, and makes its folder.
func (w *world) prepare(ctx context.Context, s *scenario.Scenario) error {
	if slices.ContainsFunc(s.Probes, func(p scenario.Probe) bool { return p.Shared(s) }) {
		done, err := w.options.Shared.turn(ctx)
		if err != nil {
			return err
		}
		w.shut = append(w.shut, done)
	}
	for i := range s.Principals {
		w.principals[s.Principals[i].Name] = &s.Principals[i]
	}
	w.first = s.Turns[0].As
	var remove func()
	var err error
	w.scratch, remove, err = NewScratch()
	if err != nil {
		return err
	}
	w.shut = append(w.shut, remove)
	return nil
}

// NewScratch makes a folder for one run; remove takes it away with all that is in
// it.
func NewScratch() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp("", "retake-")
	if err != nil {
		return "", nil, failure.Errorf(failure.World, "a folder for the run: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil // what cannot be removed is the system's to clear
}

// connect starts the server, and asks it for its tools in the name of the first
// principal that it accepts.
func (w *world) connect(ctx context.Context, s scenario.Server, of *scenario.Scenario) ([]tool.Decl, error) {
	server, err := StartServer(ctx, s, w.options, Start{Scratch: w.scratch})
	if err != nil {
		return nil, err
	}
	w.servers[s.Name] = server
	w.shut = append(w.shut, server.Close)
	askers := []*scenario.Principal{nil}
	if len(of.Principals) > 0 {
		askers = askers[:0]
		for i := range of.Principals {
			askers = append(askers, &of.Principals[i])
		}
	}
	for _, p := range askers {
		session, connectErr := server.Session(p)
		if connectErr == nil {
			return session.Tools(ctx)
		}
		if err = connectErr; !errors.Is(err, mcptool.ErrUnauthorized) {
			break
		}
	}
	return nil, err
}

func (w *world) executor(d *tool.Decl, r scenario.Run) (tool.Executor, error) {
	switch {
	case r.HTTP != nil:
		return w.endpoint(r.HTTP, d.Key, d.Timeout)
	case r.Command != nil:
		return w.command(d, r.Command)
	}
	server := w.servers[r.Server]
	if server == nil {
		return nil, failure.Errorf(failure.Internal, "its server %q was not started", r.Server)
	}
	return server.Tool(cmp.Or(r.Tool, d.Name), w.principals), nil
}

// Tool runs calls by the server's tool of the name, each in its principal's name.
// That a principal is not let in is what its calls come to.
func (s *Server) Tool(name string, principals map[string]*scenario.Principal) tool.Executor {
	return tool.ExecutorFunc(func(ctx context.Context, c tool.Call) (tool.Result, error) {
		session, err := s.Session(principals[c.Principal])
		switch {
		case errors.Is(err, mcptool.ErrUnauthorized):
			return tool.Result{Err: mcptool.Unauthorized(err)}, nil
		case err != nil:
			return tool.Result{}, err
		}
		return session.As(name).Execute(ctx, c)
	})
}

// endpoint runs calls at an address, each with its principal's headers.
func (w *world) endpoint(h *scenario.HTTP, key *tool.Key, timeout time.Duration) (tool.Executor, error) {
	by := map[string]tool.Executor{}
	for name, p := range w.everybody() {
		x, err := httptool.New(httptool.Endpoint{Method: h.Method, URL: h.URL, Headers: slices.Concat(h.Headers, p.Headers), Key: key, Timeout: timeout}, w.options.Getenv)
		if err != nil {
			return nil, err
		}
		w.shut = append(w.shut, x.Close)
		by[name] = x
	}
	return byPrincipal(by), nil
}

// command runs calls by a program, each with its principal's environment.
func (w *world) command(d *tool.Decl, c *scenario.Command) (tool.Executor, error) {
	by := map[string]tool.Executor{}
	values := map[string]string{scenario.Scratch: w.scratch}
	for name, p := range w.everybody() {
		x, err := commandtool.New(commandtool.Command{
			Args: Fill(c.Args, values), Env: Filled(slices.Concat(c.Env, p.Env), values), Dir: w.options.Dir, Timeout: d.Timeout,
		}, w.options.Getenv)
		if err != nil {
			return nil, err
		}
		by[name] = x
	}
	return byPrincipal(by), nil
}

// everybody are the principals by their names; "" is nobody in particular.
func (w *world) everybody() map[string]*scenario.Principal {
	out := maps.Clone(w.principals)
	out[""] = &scenario.Principal{}
	return out
}

func byPrincipal(by map[string]tool.Executor) tool.Executor {
	return tool.ExecutorFunc(func(ctx context.Context, c tool.Call) (tool.Result, error) {
		return by[c.Principal].Execute(ctx, c)
	})
}
