// Package process runs a program in a process group of its own and leaves none
// of it behind: what the program has started itself goes with it. What a program
// writes is bounded.
//
// Where the system has no process groups the program alone is ended.
package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
)

// Command is a program to run.
type Command struct {
	Args []string // the program and its arguments; found by PATH
	// Env is the whole environment, NAME=value each.
	Env []string
	Dir string // where it runs; "" is the working directory
	// KeepStderr is how many bytes of the last of its standard error are kept; 0 is
	// 8 KiB.
	KeepStderr int
	// Listen gets each line that it writes to its standard error, cut to 1 KiB; nil:
	// nobody listens. What it does holds the program up.
	Listen func(line string)
	// Stdout gets what Run's program writes to its standard output, however much; nil:
	// it is kept for Output.
	Stdout io.Writer
	// Stderr gets what it writes to its standard error, too; nil: nobody does.
	Stderr io.Writer
}

const (
	defaultStderr = 8 << 10
	// stragglers is how long the pipes of a program that has ended stay open for
	// somebody else who holds them.
	stragglers = 250 * time.Millisecond
)

// ErrTooMuch is the cause of a program that was killed because it wrote more than
// it may.
var ErrTooMuch = errors.New("wrote more than it may")

func (c *Command) build(ctx context.Context, stderr *Tail) (*exec.Cmd, error) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return nil, failure.Errorf(failure.ScenarioInvalid, "a command needs a program's name")
	}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	// A nil Env would be the whole environment of this process.
	cmd.Env, cmd.Dir, cmd.Stderr = append([]string{}, c.Env...), c.Dir, stderr
	if c.Listen != nil {
		cmd.Stderr = io.MultiWriter(cmd.Stderr, &lines{each: c.Listen})
	}
	if c.Stderr != nil {
		cmd.Stderr = io.MultiWriter(cmd.Stderr, c.Stderr)
	}
	cmd.WaitDelay = stragglers
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	return cmd, nil
}

func (c *Command) tail() *Tail {
	if c.KeepStderr > 0 {
		return NewTail(c.KeepStderr)
	}
	return NewTail(defaultStderr)
}

// Output is what came of a program that has ended.
type Output struct {
	Stdout []byte
	Stderr string // the last of it
	Code   int    // exit code; -1 when a signal ended it
}

// Run runs the program to its end with the text on its standard input. At the
// end of ctx the group is killed and reaped, and the error is ctx's; a program
// that writes more than most bytes is killed too, and the error is ErrTooMuch. An
// exit code is no error; one of class world says that the program could not be
// started.
func Run(ctx context.Context, c Command, stdin []byte, most int) (Output, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stderr, stdout := c.tail(), &bounded{most: most, over: func() { cancel(ErrTooMuch) }}
	cmd, err := c.build(ctx, stderr)
	if err != nil {
		return Output{}, err
	}
	cmd.Stdin, cmd.Stdout = bytes.NewReader(stdin), stdout
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if err := cmd.Start(); err != nil {
		return Output{}, notStarted(ctx, &c, err)
	}
	err = cmd.Wait()
	_ = killGroup(cmd.Process) // what it left behind; there may be nothing
	out := Output{Stdout: stdout.buf, Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) && !isBrokenPipe(err) {
		return out, failure.Errorf(failure.World, "%s: %w", c.Args[0], err)
	}
	return out, nil
}

func notStarted(ctx context.Context, c *Command, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return failure.Errorf(failure.World, "the program %q cannot be started: %w; check that it is installed, and its path", c.Args[0], err)
}

// bounded keeps what is written, up to a number of bytes.
type bounded struct {
	most int
	over func()
	buf  []byte
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - len(b.buf); len(p) > room {
		b.buf = append(b.buf, p[:max(0, room)]...)
		b.over()
		return len(p), nil
	}
	b.buf = append(b.buf, p...)
	return len(p), nil
}

// Process is a program that is talked to while it runs.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.Reader // ends when the program has ended

	cmd    *exec.Cmd
	out    *os.File
	stderr *Tail
	cancel context.CancelFunc
	done   chan struct{} // closed when the program is reaped and its group gone
}

// Start starts the program. It lives until Close, or until ctx ends, which kills
// it.
func Start(ctx context.Context, c Command) (*Process, error) {
	life, cancel := context.WithCancel(ctx)
	p := &Process{stderr: c.tail(), cancel: cancel, done: make(chan struct{})}
	if err := p.start(life, &c); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // how it ended is in ProcessState
		_ = killGroup(p.cmd.Process)
	}()
	return p, nil
}

func (p *Process) start(ctx context.Context, c *Command) (err error) {
	if p.cmd, err = c.build(ctx, p.stderr); err != nil {
		return err
	}
	if p.Stdin, err = p.cmd.StdinPipe(); err != nil {
		return failure.Errorf(failure.World, "%s: %w", c.Args[0], err)
	}
	// A pipe of our own: Wait would close exec's before all of it is read.
	out, theirs, err := os.Pipe()
	if err != nil {
		_ = p.Stdin.Close()
		return failure.Errorf(failure.World, "%s: %w", c.Args[0], err)
	}
	p.cmd.Stdout, p.out, p.Stdout = theirs, out, out
	err = p.cmd.Start()
	_ = theirs.Close()
	if err != nil {
		_, _ = p.Stdin.Close(), out.Close()
		return notStarted(ctx, c, err)
	}
	return nil
}

// Done is closed when the program has ended and nothing is left of its group.
func (p *Process) Done() <-chan struct{} { return p.done }

// Pid is the program's number, and its group's.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// How says how the program ended, as "exit status 3"; "" while it runs.
func (p *Process) How() string {
	select {
	case <-p.done:
		return p.cmd.ProcessState.String()
	default:
		return ""
	}
}

// Stderr is the last of what the program wrote to its standard error.
func (p *Process) Stderr() string { return p.stderr.String() }

// Close ends the program: it closes its standard input, and after grace kills
// the group. When it returns, nothing of the group is left. It may be called more
// than once.
func (p *Process) Close(grace time.Duration) {
	_ = p.Stdin.Close()
	p.within(grace)
	p.Terminate(grace)
}

// Terminate is Close of a program that does not end with its standard input: it is
// asked to end, and after grace the group is killed.
func (p *Process) Terminate(grace time.Duration) {
	_ = p.Stdin.Close()
	if p.How() == "" {
		_ = terminateGroup(p.cmd.Process)
		if !p.within(grace) {
			p.cancel()
		}
	}
	<-p.done
	p.cancel()
	_ = p.out.Close()
}

// Kill ends the program at once.
func (p *Process) Kill() {
	p.cancel()
	<-p.done
}

func (p *Process) within(d time.Duration) bool {
	ctx, cancel := clock.WithTimeout(context.Background(), d)
	defer cancel()
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
		return false
	}
}
