package world

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process"
	"github.com/retake-harness/retake/harness/scenario"
)

const (
	startTime = 30 * time.Second // for a program to be reached, where the server says nothing
	pollEvery = 5 * time.Millisecond
	mostPorts = 3 // how often another port is tried
	lookTime  = time.Second
	// settle is how long a program has to fail after its address has answered. One
	// that finds its port taken by somebody else ends soon.
	settle = 50 * time.Millisecond
)

var (
	errEnded = errors.New("the program ended before it could be reached")
	errTaken = errors.New("somebody else listens")
)

// prepare builds the program, and starts it where it is reached by its address.
func (s *Server) prepare(ctx context.Context, o *Options) (err error) {
	if s.built, err = o.Shared.build(ctx, s.spec.Build, o); err != nil || len(s.spec.Command) == 0 || s.spec.URL == "" {
		return err
	}
	for range mostPorts {
		err = s.launch(ctx)
		unlucky := errors.Is(err, errEnded) || errors.Is(err, errTaken) // somebody else may have been quicker to take the port
		if !unlucky || !strings.Contains(s.spec.URL, "${"+scenario.Port+"}") {
			break
		}
	}
	return err
}

// launch starts the program and waits until its address can be reached. What
// answers there before is somebody else, and would be taken for the program.
func (s *Server) launch(ctx context.Context) error {
	port, err := freePort(ctx)
	if err != nil {
		return failure.Errorf(failure.World, "finding a free port: %w", err)
	}
	values := map[string]string{scenario.Scratch: s.start.Scratch, scenario.Port: port, scenario.Build: s.built}
	address := scenario.Fill(s.spec.URL, values)
	host, err := hostOf(address)
	if err != nil {
		return err
	}
	if answers(ctx, host) {
		return failure.Errorf(failure.World, "%w at %s already; end it, or use ${%s}", errTaken, host, scenario.Port)
	}
	env, _, err := process.Environment(append(Filled(s.spec.Env, values), Filled(s.start.Env, values)...), s.options.Getenv)
	if err != nil {
		return err
	}
	proc, err := process.Start(ctx, process.Command{Args: Fill(s.spec.Command, values), Env: env, Dir: s.options.Dir, Listen: s.start.Listen})
	if err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, proc.Stdout) }() // until it ends; a full pipe would hold it up
	if err := s.reached(ctx, proc, host); err != nil {
		proc.Kill()
		return err
	}
	s.proc, s.spec.URL = proc, address
	return nil
}

// hostOf is the host and the port of the address.
func hostOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", failure.Errorf(failure.ScenarioInvalid, "its address: %w", err)
	}
	if u.Port() != "" {
		return u.Host, nil
	}
	return net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme]), nil
}

func answers(ctx context.Context, host string) bool {
	limited, cancel := clock.WithTimeout(ctx, lookTime)
	defer cancel()
	return dial(limited, host) == nil
}

func dial(ctx context.Context, host string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	return conn.Close()
}

// reached waits until the host answers, and then for a moment whether the program
// goes on: one that has ended is not who answers.
func (s *Server) reached(ctx context.Context, proc *process.Process, host string) error {
	limited, cancel := clock.WithTimeout(ctx, cmp.Or(s.spec.Timeout, startTime))
	defer cancel()
	for {
		err := dial(limited, host)
		if err == nil {
			return settled(ctx, proc)
		}
		if proc.How() != "" {
			return ended(proc)
		}
		if clock.Sleep(limited, pollEvery) != nil {
			return failure.Errorf(failure.World, "the program cannot be reached at %s: %w%s", host, err, stderr(proc))
		}
	}
}

func settled(ctx context.Context, proc *process.Process) error {
	limited, cancel := clock.WithTimeout(ctx, settle)
	defer cancel()
	select {
	case <-proc.Done():
		return ended(proc)
	case <-limited.Done():
		return ctx.Err()
	}
}

func ended(proc *process.Process) error {
	return failure.Errorf(failure.World, "%w: %s%s", errEnded, proc.How(), stderr(proc))
}

func stderr(p *process.Process) string {
	if text := p.Stderr(); text != "" {
		return "; standard error: " + text
	}
	return ""
}

func freePort(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}
