package world

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process"
	"github.com/retake-harness/retake/harness/scenario"
)

// Shared is what runs share: what servers were built into, and the turns of those
// whose effects are counted where others may change them. It may be used by many
// goroutines.
type Shared struct {
	turns chan struct{}

	mu     sync.Mutex
	builds map[string]*build // by the command
	shut   []func()
}

type build struct {
	once sync.Once
	dir  string
	err  error
}

// NewShared is what nobody has used yet. Close it when the last run is over.
func NewShared() *Shared { return &Shared{turns: make(chan struct{}, 1), builds: map[string]*build{}} }

// Close removes what was built; there may be nothing that is shared.
func (s *Shared) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.shut {
		f()
	}
	s.shut = nil
}

// turn waits until no one else has the turn; done gives it back.
func (s *Shared) turn(ctx context.Context) (done func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

const (
	buildTime   = 10 * time.Minute
	buildOutput = 1 << 20
)

// build runs the command that builds a program, once for all that share it, and
// gives the folder that ${build} stands for; "" where nothing is built. An
// interrupted one is tried again by the next who needs it.
func (s *Shared) build(ctx context.Context, command []string, o *Options) (string, error) {
	if len(command) == 0 {
		return "", nil
	}
	key := strings.Join(command, "\x00")
	s.mu.Lock()
	b := s.builds[key]
	if b == nil {
		b = &build{}
		s.builds[key] = b
	}
	s.mu.Unlock()
	b.once.Do(func() { b.dir, b.err = s.run(ctx, command, o) })
	if b.err != nil && ctx.Err() != nil {
		s.mu.Lock()
		delete(s.builds, key)
		s.mu.Unlock()
	}
	return b.dir, b.err
}

func (s *Shared) run(ctx context.Context, command []string, o *Options) (string, error) {
	dir, remove, err := NewScratch()
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	s.shut = append(s.shut, remove)
	s.mu.Unlock()
	limited, cancel := clock.WithTimeout(ctx, buildTime)
	defer cancel()
	out, err := process.Run(limited, process.Command{
		Args: Fill(command, map[string]string{scenario.Build: dir}), Env: o.Public(), Dir: o.Dir,
	}, nil, buildOutput)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return "", failure.Errorf(failure.World, "its build did not end within %v", buildTime)
	case err != nil:
		return "", failure.Errorf(failure.Of(err), "its build: %w", err)
	case out.Code != 0:
		return "", failure.Errorf(failure.World, "its build failed with exit status %d: %s", out.Code, strings.TrimSpace(out.Stderr+"\n"+string(out.Stdout)))
	}
	return dir, nil
}

// Public is the environment without the secrets: what builds a program has to find
// its caches and its proxies.
func (o *Options) Public() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { //nolint:forbidigo // a compiler needs what the caller has
		name, _, _ := strings.Cut(v, "=")
		return o.Secret != nil && o.Secret(name)
	})
}
