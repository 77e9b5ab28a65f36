package clock

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// Batch runs fns with at most limit at once (0: no limit) and returns when all
// have ended.
//
// On a virtual clock it is a scheduler, not free goroutines: the fns run one
// after the other in their order, each on a branch of the timeline that begins
// at the earliest free place, and the parent's line then moves to the latest
// end. A deadline of the parent ends each branch that passes it, no other.
func Batch(ctx context.Context, limit int, fns ...func(context.Context)) {
	if limit <= 0 || limit > len(fns) {
		limit = len(fns)
	}
	if len(fns) == 0 {
		return
	}
	c, _ := from(ctx)
	if c.line == nil {
		batchFree(ctx, limit, fns)
		return
	}
	free := make([]time.Duration, limit)
	start := c.line.at()
	for i := range free {
		free[i] = start
	}
	end := start
	for _, fn := range fns {
		slot := 0
		for i := range free {
			if free[i] < free[slot] {
				slot = i
			}
		}
		free[slot] = runBranch(ctx, free[slot], fn)
		end = max(end, free[slot])
	}
	// The sleep, unlike a plain move, ends the deadlines on the way.
	_ = c.line.sleep(ctx, end-start)
}

// runBranch runs fn on a line that begins at start and returns where it ended.
func runBranch(ctx context.Context, start time.Duration, fn func(context.Context)) time.Duration {
	b := &line{now: start}
	child := context.WithValue(unlimited{ctx}, lineKey{}, clockValue{line: b})
	if first := earliest(ctx); first != nil {
		l, cancel := newLimited(child, b, first.deadline)
		defer cancel()
		child = l
	}
	fn(child)
	return b.at()
}

// unlimited hides that a virtual deadline has passed on the parent's line, which
// says nothing about a branch that is earlier; a cancellation still shows.
type unlimited struct{ context.Context }

func (u unlimited) Err() error {
	err := u.Context.Err()
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

func (u unlimited) Value(k any) any {
	if k == (limitedKey{}) {
		return nil
	}
	return u.Context.Value(k)
}

func batchFree(ctx context.Context, limit int, fns []func(context.Context)) {
	var wg sync.WaitGroup
	room := make(chan struct{}, limit)
	for _, fn := range fns {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			fn(ctx)
		})
	}
	wg.Wait()
}

// stall is how long a func may hold up the line in real time before Run moves
// the line for it.
const stall = time.Second

// ErrExited is returned by Run for a func that ended its goroutine instead of
// returning, as testing.T.FailNow does.
var ErrExited = errors.New("ended its goroutine")

// Run calls fn, which may be code that waits by itself (a user's tool), and
// returns when fn has ended. On a virtual clock such a wait would stop the line:
// after a second of real time the line moves to the earliest deadline of ctx,
// which ends ctx for fn, and Run reports stalled. A panic of fn is one of Run's.
//
// fn runs on a goroutine of its own, so the only error, ErrExited, leaves the
// caller's alive.
func Run(ctx context.Context, fn func(context.Context)) (stalled bool, err error) {
	done := make(chan ending, 1)
	go func() {
		e := ending{err: ErrExited}
		defer func() {
			e.panicked = recover()
			done <- e
		}()
		fn(ctx)
		e.err = nil
	}()
	var e ending
	if c, _ := from(ctx); c.line == nil || earliest(ctx) == nil {
		e = <-done
	} else {
		e, stalled = unstall(ctx, done)
	}
	if e.panicked != nil {
		panic(e.panicked)
	}
	return stalled, e.err
}

// ending is how a func ended.
type ending struct {
	panicked any
	err      error
}

// unstall waits for done, and moves the line when it does not come.
func unstall(ctx context.Context, done <-chan ending) (e ending, stalled bool) {
	t := time.NewTimer(stall)
	defer t.Stop()
	select {
	case e = <-done:
		return e, false
	case <-t.C:
		_ = Block(ctx)
		return <-done, true
	}
}

// Body is a response body whose chunks come gap apart on the clock of ctx. A
// read after ctx has ended returns its error.
func Body(ctx context.Context, chunks [][]byte, gap time.Duration) io.ReadCloser {
	return &body{ctx: ctx, chunks: chunks, gap: gap}
}

type body struct {
	ctx    context.Context
	chunks [][]byte
	gap    time.Duration
	rest   []byte
}

func (b *body) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if len(b.chunks) == 0 {
			return 0, io.EOF
		}
		if err := Sleep(b.ctx, b.gap); err != nil {
			return 0, err
		}
		b.rest, b.chunks = b.chunks[0], b.chunks[1:]
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *body) Close() error { return nil }
