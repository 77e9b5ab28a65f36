// Package clock is the one place that reads, waits for or limits time. Each run
// has one clock, carried by its context:
//
//   - Virtual: a timeline of the run's own. Nothing waits; a sleep moves the
//     line, and a deadline that the line passes ends its context. Figures are
//     the same in every run.
//   - Wall: package time as it is. Inside a testing/synctest bubble that is
//     virtual too, for the timers of an SDK as well.
//   - Real: package time, and besides it what was recorded, which is counted and
//     not waited for.
//
// Times are durations since the run began. A virtual context reports no
// Deadline to the standard library, which would arm a real timer for it.
package clock

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

type lineKey struct{}

// Mode says which kind of clock a context carries.
type Mode string

// The modes, as reports name them.
const (
	ModeVirtual Mode = "virtual"
	ModeBubble  Mode = "bubble" // Wall inside testing/synctest
	ModeReal    Mode = "real"
)

// ErrBlocked is returned by Block on a virtual clock when no deadline would
// ever end the wait.
var ErrBlocked = errors.New("waits for ever: no deadline is set on the virtual clock")

// Virtual returns a context with a timeline of its own that begins at 0. To
// set one inside another is a programming error and panics.
func Virtual(ctx context.Context) context.Context {
	if _, ok := from(ctx); ok {
		panic("clock.Virtual: the context has a clock already; a run has one clock, set where it begins")
	}
	return context.WithValue(ctx, lineKey{}, clockValue{line: &line{}})
}

// Wall returns a context whose clock is package time, counted from now. Like
// Virtual it panics when the context has a clock.
func Wall(ctx context.Context) context.Context {
	if _, ok := from(ctx); ok {
		panic("clock.Wall: the context has a clock already; a run has one clock, set where it begins")
	}
	return context.WithValue(ctx, lineKey{}, clockValue{start: time.Now()})
}

// Real returns a context whose clock is package time, counted from now, and what
// Pass adds to it. Like Virtual it panics when the context has a clock.
func Real(ctx context.Context) context.Context {
	if _, ok := from(ctx); ok {
		panic("clock.Real: the context has a clock already; a run has one clock, set where it begins")
	}
	return context.WithValue(ctx, lineKey{}, clockValue{start: time.Now(), passed: &atomic.Int64{}})
}

// Pass lets a time go by that was recorded. On a real clock it is counted and not
// waited for; on any other it is Sleep.
func Pass(ctx context.Context, d time.Duration) error {
	c, _ := from(ctx)
	if c.passed == nil {
		return Sleep(ctx, d)
	}
	c.passed.Add(int64(d))
	return ctx.Err()
}

// IsVirtual tells whether the context has a timeline of its own.
func IsVirtual(ctx context.Context) bool {
	c, _ := from(ctx)
	return c.line != nil
}

// Now is the time since the run began; 0 without a clock.
func Now(ctx context.Context) time.Duration {
	switch c, ok := from(ctx); {
	case !ok:
		return 0
	case c.line != nil:
		return c.line.at()
	case c.passed != nil:
		return time.Since(c.start) + time.Duration(c.passed.Load())
	default:
		return time.Since(c.start)
	}
}

// Sleep waits for d or until ctx ends, and then returns ctx's error.
func Sleep(ctx context.Context, d time.Duration) error {
	if c, _ := from(ctx); c.line != nil {
		return c.line.sleep(ctx, d)
	}
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Block waits until ctx ends and returns its error. On a virtual clock the line
// moves to the earliest deadline; without any it returns ErrBlocked at once.
func Block(ctx context.Context) error {
	c, _ := from(ctx)
	if c.line == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	first := earliest(ctx)
	if first == nil {
		return ErrBlocked
	}
	return c.line.sleep(ctx, first.deadline-c.line.at())
}

// WithTimeout is context.WithTimeout on the context's clock.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	c, _ := from(ctx)
	if c.line == nil {
		return context.WithTimeout(ctx, d)
	}
	return newLimited(ctx, c.line, c.line.at()+d)
}

// Wallclock is the real time, for time stamps in reports; never for decisions
// of a run.
func Wallclock() time.Time { return time.Now() }

// Stopwatch measures real time: it returns the time since it was made.
func Stopwatch() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

type clockValue struct {
	line   *line
	start  time.Time
	passed *atomic.Int64 // on a real clock: what has passed without being waited for
}

func from(ctx context.Context) (clockValue, bool) {
	c, ok := ctx.Value(lineKey{}).(clockValue)
	return c, ok
}
