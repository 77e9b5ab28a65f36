package clock_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/clock"
)

func TestSleepMovesTheLineAndWaitsForNothing(t *testing.T) {
	ctx := clock.Virtual(t.Context())
	if err := clock.Sleep(ctx, 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := clock.Now(ctx); got != 2*time.Hour {
		t.Errorf("now is %v, want 2h", got)
	}
}

func TestDeadlineCutsASleepExactly(t *testing.T) {
	ctx := clock.Virtual(t.Context())
	outer, cancel := clock.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	inner, cancel := clock.WithTimeout(outer, time.Minute)
	defer cancel()
	if err := clock.Sleep(inner, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want the deadline", err)
	}
	if got := clock.Now(ctx); got != 30*time.Second {
		t.Errorf("now is %v, want 30s: the outer deadline comes first", got)
	}
	if inner.Err() == nil || ctx.Err() != nil {
		t.Errorf("inner.Err() = %v, ctx.Err() = %v; want only the inner one to end", inner.Err(), ctx.Err())
	}
}

func TestInnerDeadlineLeavesTheOuterAlive(t *testing.T) {
	ctx := clock.Virtual(t.Context())
	outer, cancelOuter := clock.WithTimeout(ctx, time.Minute)
	defer cancelOuter()
	inner, cancel := clock.WithTimeout(outer, time.Second)
	defer cancel()
	if err := clock.Block(inner); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if outer.Err() != nil || clock.Now(ctx) != time.Second {
		t.Errorf("outer.Err() = %v at %v; want it alive at 1s", outer.Err(), clock.Now(ctx))
	}
}

func TestBlockWithoutDeadlineIsAnError(t *testing.T) {
	if err := clock.Block(clock.Virtual(t.Context())); !errors.Is(err, clock.ErrBlocked) {
		t.Errorf("got %v, want ErrBlocked", err)
	}
}

func TestCancelFromAboveReachesALimitedContext(t *testing.T) {
	base, cancelBase := context.WithCancel(t.Context())
	ctx := clock.Virtual(base)
	limited, cancel := clock.WithTimeout(ctx, time.Minute)
	defer cancel()
	middle, cancelMiddle := context.WithCancel(limited)
	deep, cancel2 := clock.WithTimeout(middle, time.Hour)
	defer cancel2()
	cancelMiddle()
	if !errors.Is(deep.Err(), context.Canceled) || limited.Err() != nil {
		t.Fatalf("deep %v, limited %v; want only deep cancelled", deep.Err(), limited.Err())
	}
	cancelBase()
	if !errors.Is(limited.Err(), context.Canceled) {
		t.Errorf("limited.Err() = %v, want cancelled", limited.Err())
	}
}

func TestNoDeadlineIsShownToTheStandardLibrary(t *testing.T) {
	ctx, cancel := clock.WithTimeout(clock.Virtual(t.Context()), time.Second)
	defer cancel()
	if _, ok := ctx.Deadline(); ok {
		t.Error("a real timer would be armed for a virtual deadline")
	}
}

func TestBatchIsAScheduler(t *testing.T) {
	for _, tc := range []struct {
		why   string
		limit int
		took  []time.Duration
		want  []time.Duration // begin of each
		end   time.Duration
	}{
		{"no cap: all begin at once, the latest ends the batch", 0, durations(3, 1, 2), durations(0, 0, 0), 3 * time.Second},
		{"cap 1: one after the other", 1, durations(3, 1, 2), durations(0, 3, 4), 6 * time.Second},
		{"cap 2: the third begins where the first place gets free", 2, durations(3, 1, 2), durations(0, 0, 1), 3 * time.Second},
		{"nothing to do takes no time", 4, nil, nil, 0},
	} {
		ctx := clock.Virtual(t.Context())
		begin := make([]time.Duration, len(tc.took))
		fns := make([]func(context.Context), len(tc.took))
		for i, d := range tc.took {
			fns[i] = func(ctx context.Context) {
				begin[i] = clock.Now(ctx)
				_ = clock.Sleep(ctx, d)
			}
		}
		clock.Batch(ctx, tc.limit, fns...)
		for i := range begin {
			if begin[i] != tc.want[i] {
				t.Errorf("%s: call %d begins at %v, want %v", tc.why, i, begin[i], tc.want[i])
			}
		}
		if got := clock.Now(ctx); got != tc.end {
			t.Errorf("%s: ends at %v, want %v", tc.why, got, tc.end)
		}
	}
}

func TestDeadlineInABatchEndsOnlyTheBranchThatPassesIt(t *testing.T) {
	ctx, cancel := clock.WithTimeout(clock.Virtual(t.Context()), 10*time.Second)
	defer cancel()
	errs := make([]error, 2)
	clock.Batch(ctx, 0,
		func(ctx context.Context) { errs[0] = clock.Sleep(ctx, time.Minute) },
		func(ctx context.Context) { errs[1] = clock.Sleep(ctx, time.Second) },
	)
	if !errors.Is(errs[0], context.DeadlineExceeded) || errs[1] != nil {
		t.Errorf("got %v, want the deadline and nil", errs)
	}
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) || clock.Now(ctx) != 10*time.Second {
		t.Errorf("after the batch: %v at %v, want the deadline at 10s", ctx.Err(), clock.Now(ctx))
	}
}

func TestTimelinesStartNoGoroutines(t *testing.T) {
	ctx := clock.Virtual(t.Context())
	before := runtime.NumGoroutine()
	ctx, cancel := clock.WithTimeout(ctx, time.Hour)
	defer cancel()
	for range 100 {
		clock.Batch(ctx, 2, func(ctx context.Context) {
			ctx, cancel := clock.WithTimeout(context.WithValue(ctx, clockTestKey{}, 1), time.Second)
			defer cancel()
			_ = clock.Sleep(ctx, time.Millisecond)
			if n := runtime.NumGoroutine(); n > before {
				t.Errorf("%d goroutines, %d before", n, before)
			}
		})
	}
}

type clockTestKey struct{}

func TestASecondClockIsAProgrammingError(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	clock.Wall(clock.Virtual(t.Context()))
}

func TestWallClockInABubbleTakesNoRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := clock.Wall(t.Context())
		limited, cancel := clock.WithTimeout(ctx, time.Hour)
		defer cancel()
		if err := clock.Sleep(limited, 2*time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if got := clock.Now(ctx); got != time.Hour {
			t.Errorf("now is %v, want 1h", got)
		}
	})
}

func TestBodyStallsAreCutAtTheDeadline(t *testing.T) {
	ctx, cancel := clock.WithTimeout(clock.Virtual(t.Context()), 30*time.Second)
	defer cancel()
	b, err := io.ReadAll(clock.Body(ctx, [][]byte{[]byte("a"), []byte("b"), []byte("c")}, 12*time.Second))
	if string(b) != "ab" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %q, %v; want the two chunks before 30s and the deadline", b, err)
	}
}

func TestAToolThatWaitsByItselfDoesNotStopTheLine(t *testing.T) {
	synctest.Test(t, testStall) // so that the second of real time is none
}

func testStall(t *testing.T) {
	ctx, cancel := clock.WithTimeout(clock.Virtual(t.Context()), time.Minute)
	defer cancel()
	stalled, err := clock.Run(ctx, func(ctx context.Context) { <-ctx.Done() })
	if err != nil || !stalled || clock.Now(ctx) != time.Minute {
		t.Errorf("stalled %v at %v; want true at 1m", stalled, clock.Now(ctx))
	}
	if stalled, err := clock.Run(ctx, func(context.Context) {}); stalled || err != nil {
		t.Error("a func that returns at once is no stall")
	}
}

func TestAFuncThatDoesNotReturnIsToldFromOneThatDoes(t *testing.T) {
	limited, cancel := clock.WithTimeout(clock.Virtual(t.Context()), time.Minute)
	defer cancel()
	for why, ctx := range map[string]context.Context{
		"a line with a deadline": limited, "one without": clock.Virtual(t.Context()), "a wall clock": clock.Wall(t.Context()),
	} {
		if stalled, err := clock.Run(ctx, func(context.Context) { runtime.Goexit() }); !errors.Is(err, clock.ErrExited) || stalled {
			t.Errorf("%s: an exit is %v, stalled %v", why, err, stalled)
		}
		func() {
			defer func() {
				if v := recover(); v != "broken" {
					t.Errorf("%s: a panic is %v", why, v)
				}
			}()
			_, _ = clock.Run(ctx, func(context.Context) { panic("broken") })
		}()
	}
}

// Of equal deadlines the outer one ends: what it stands for (the run) is over,
// and with it everything within.
func TestOfEqualDeadlinesTheOuterOneEnds(t *testing.T) {
	outer, cancelOuter := clock.WithTimeout(clock.Virtual(t.Context()), time.Minute)
	defer cancelOuter()
	inner, cancel := clock.WithTimeout(outer, time.Minute)
	defer cancel()
	_ = clock.Block(inner)
	for name, ctx := range map[string]context.Context{"outer": outer, "inner": inner} {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("%s: %v at %v, want the deadline", name, ctx.Err(), clock.Now(ctx))
		}
	}
}

// However sleeps and deadlines are mixed, the line never goes back and no sleep
// passes a deadline of its context.
func TestLineLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := clock.Virtual(context.Background())
		last := time.Duration(0)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			limit := time.Duration(rapid.IntRange(0, 1000).Draw(t, "limit"))
			sleep := time.Duration(rapid.IntRange(0, 1000).Draw(t, "sleep"))
			lim, cancel := clock.WithTimeout(ctx, limit)
			err := clock.Sleep(lim, sleep)
			cancel()
			now := clock.Now(ctx)
			if want := last + min(limit, sleep); now != want {
				t.Fatalf("at %d, want %d", now, want)
			}
			if (err != nil) != (limit <= sleep) {
				t.Fatalf("sleep %d within %d: %v", sleep, limit, err)
			}
			last = now
		}
	})
}

func BenchmarkTimeout(b *testing.B) {
	ctx := clock.Virtual(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		c, cancel := clock.WithTimeout(ctx, time.Second)
		_ = clock.Sleep(c, 2*time.Second)
		cancel()
	}
}

func durations(s ...int) []time.Duration {
	out := make([]time.Duration, len(s))
	for i, n := range s {
		out[i] = time.Duration(n) * time.Second
	}
	return out
}

// What was recorded is not waited for on a real clock, and counts there too.
func TestPass(t *testing.T) {
	const long = 40 * time.Hour
	for _, tc := range []struct {
		why  string
		ctx  context.Context
		real bool
	}{
		{"virtual", clock.Virtual(t.Context()), false},
		{"real", clock.Real(t.Context()), true},
	} {
		before := clock.Now(tc.ctx)
		if err := clock.Pass(tc.ctx, long); err != nil {
			t.Errorf("%s: %v", tc.why, err)
		}
		if passed := clock.Now(tc.ctx) - before; passed < long || passed > long+time.Minute {
			t.Errorf("%s: %v passed", tc.why, passed)
		}
	}
	ended, cancel := context.WithCancel(clock.Real(t.Context()))
	cancel()
	if err := clock.Pass(ended, long); !errors.Is(err, context.Canceled) {
		t.Errorf("when it is over: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx := clock.Wall(t.Context())
		start := time.Now()
		if err := clock.Pass(ctx, time.Hour); err != nil || time.Since(start) != time.Hour {
			t.Errorf("in a bubble the timers of others go on: %v, %v", time.Since(start), err)
		}
	})
}
