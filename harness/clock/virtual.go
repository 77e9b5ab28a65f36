package clock

import (
	"context"
	"sync"
	"time"
)

// line is a virtual timeline. It only moves forward.
type line struct {
	mu  sync.Mutex
	now time.Duration
}

func (l *line) at() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

func (l *line) moveTo(t time.Duration) {
	l.mu.Lock()
	l.now = max(l.now, t)
	l.mu.Unlock()
}

// sleep moves the line by d, or to the earliest deadline of ctx when that comes
// first (or at the same time), and ends that context.
func (l *line) sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	to := l.at() + max(d, 0)
	first := earliest(ctx)
	if first == nil || first.deadline > to {
		l.moveTo(to)
		return nil
	}
	l.moveTo(first.deadline)
	first.end(context.DeadlineExceeded)
	return ctx.Err()
}

// limited is a context with a deadline on a timeline. It has a Done channel of
// its own and reports no Deadline.
type limited struct {
	context.Context // for values, and for cancellation from above
	deadline        time.Duration
	done            chan struct{}
	up              *limited // next one outwards on the same line

	mu    sync.Mutex
	err   error
	after map[int]func()
	next  int
}

// limitedKey finds the nearest limited context on the same line; outerKey the
// nearest one at all, across the branches of a batch.
type (
	limitedKey struct{}
	outerKey   struct{}
)

func newLimited(ctx context.Context, l *line, at time.Duration) (*limited, context.CancelFunc) {
	c := &limited{Context: ctx, deadline: at, done: make(chan struct{})}
	c.up, _ = ctx.Value(limitedKey{}).(*limited)
	stop := afterFunc(ctx, func() { c.end(ctx.Err()) })
	if at <= l.at() {
		c.end(context.DeadlineExceeded)
	}
	return c, func() { stop(); c.end(context.Canceled) }
}

// afterFunc is context.AfterFunc, without the goroutine that the standard
// library starts for a context which is not its own.
func afterFunc(ctx context.Context, f func()) (stop func() bool) {
	outer, _ := ctx.Value(outerKey{}).(*limited)
	if outer != nil && ctx.Done() == outer.Done() {
		return outer.AfterFunc(f)
	}
	return context.AfterFunc(ctx, f)
}

// earliest is the context with the first deadline in ctx's chain, the outermost
// of equals, nil without any.
func earliest(ctx context.Context) *limited {
	c, _ := ctx.Value(limitedKey{}).(*limited)
	var first *limited
	for ; c != nil; c = c.up {
		if first == nil || c.deadline <= first.deadline {
			first = c
		}
	}
	return first
}

func (c *limited) Deadline() (time.Time, bool) { return time.Time{}, false }
func (c *limited) Done() <-chan struct{}       { return c.done }

// Err asks upwards as well, because an AfterFunc runs in a goroutine of its own
// and may come late.
func (c *limited) Err() error {
	c.mu.Lock()
	err := c.err
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if err := c.Context.Err(); err != nil {
		c.end(err)
		return err
	}
	return nil
}

func (c *limited) Value(k any) any {
	if k == (limitedKey{}) || k == (outerKey{}) {
		return c
	}
	return c.Context.Value(k)
}

// AfterFunc makes context.AfterFunc and the contexts derived from c work without
// a goroutine that waits.
func (c *limited) AfterFunc(f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	if c.after == nil {
		c.after = map[int]func(){}
	}
	id := c.next
	c.next++
	c.after[id] = f
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waiting := c.after[id]
		delete(c.after, id)
		return waiting
	}
}

func (c *limited) end(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	close(c.done)
	after := c.after
	c.after = nil
	c.mu.Unlock()
	for _, f := range after {
		f()
	}
}
