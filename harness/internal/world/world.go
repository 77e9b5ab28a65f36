// Package world starts what a scenario's tools run on: MCP servers, endpoints,
// commands. All of it belongs to one run and ends with it, so that no run finds
// what another one has left.
package world

import (
	"context"

	"github.com/retake-harness/retake/harness"
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
}

// Open starts what the scenario's tools run on. The servers live until Close, or
// until ctx ends. An error is of class world, or of scenario_invalid where the
// scenario says what is not so.
func Open(ctx context.Context, s *scenario.Scenario, o Options) (*harness.Tools, error) {
	for _, name := range s.FromEnv() {
		if o.Secret == nil || !o.Secret(name) {
			return nil, failure.Errorf(failure.ScenarioInvalid,
				"%s: a tool is given the environment variable %s, which is not declared as a secret; write its owner into %s, under secrets", s.File, name, o.Config)
		}
	}
	w := &world{options: o, sessions: map[string]*mcptool.Session{}}
	t, err := w.open(ctx, s)
	if err != nil {
		w.close()
		return nil, err
	}
	return t, nil
}

type world struct {
	options  Options
	sessions map[string]*mcptool.Session
	shut     []func()
}

func (w *world) close() {
	for _, f := range w.shut {
		f()
	}
}

func (w *world) open(ctx context.Context, s *scenario.Scenario) (*harness.Tools, error) {
	found := map[string][]tool.Decl{}
	for _, server := range s.Servers {
		decls, err := w.connect(ctx, server)
		if err != nil {
			return nil, failure.Errorf(failure.Of(err), "%s: %w", s.File, err)
		}
		found[server.Name] = decls
	}
	full, err := s.WithServerTools(found)
	if err != nil {
		return nil, err
	}
	t := &harness.Tools{Scenario: full, Executors: map[string]tool.Executor{}, Close: w.close}
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
	return t, nil
}

// connect makes the session with a server, and asks for its tools.
func (w *world) connect(ctx context.Context, s scenario.Server) ([]tool.Decl, error) {
	session, err := mcptool.Connect(ctx, mcptool.Server{
		Name: s.Name, Command: s.Command, Env: s.Env, Dir: w.options.Dir, URL: s.URL, Headers: s.Headers, Timeout: s.Timeout,
	}, w.options.Getenv)
	if err != nil {
		return nil, err
	}
	w.sessions[s.Name] = session
	w.shut = append(w.shut, session.Close)
	return session.Tools(ctx)
}

func (w *world) executor(d *tool.Decl, r scenario.Run) (tool.Executor, error) {
	switch {
	case r.HTTP != nil:
		x, err := httptool.New(httptool.Endpoint{Method: r.HTTP.Method, URL: r.HTTP.URL, Headers: r.HTTP.Headers, Key: d.Key, Timeout: d.Timeout}, w.options.Getenv)
		if err != nil {
			return nil, err
		}
		w.shut = append(w.shut, x.Close)
		return x, nil
	case r.Command != nil:
		return commandtool.New(commandtool.Command{Args: r.Command.Args, Env: r.Command.Env, Dir: w.options.Dir, Timeout: d.Timeout}, w.options.Getenv)
	}
	session := w.sessions[r.Server]
	if session == nil {
		return nil, failure.Errorf(failure.Internal, "its server %q was not started", r.Server)
	}
	if r.Tool != "" {
		return session.As(r.Tool), nil
	}
	return session, nil
}
