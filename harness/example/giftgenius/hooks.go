package giftgenius

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Point is a place in a write at which a process can be made to stand still.
type Point string

// The points, in the order in which a write comes to them.
const (
	BeforeReserve Point = "before_reserve"
	AfterReserve  Point = "after_reserve" // the naive handler reserves nothing: it has looked up
	AfterEffect   Point = "after_effect"  // the provider has charged; of several charges, the first
	AfterRecord   Point = "after_record"
)

var points = []Point{BeforeReserve, AfterReserve, AfterEffect, AfterRecord}

// Hooks are what a test harness asks of the server. The zero value asks nothing.
type Hooks struct {
	HoldAt      Point
	Said        io.Writer // where "retake: held at <point>" goes; nil: nowhere
	ClockOffset time.Duration
	FailPayment bool
	FailAfter   int // charges that pass before the payment fails
}

// ParseHooks reads the environment through lookup (os.LookupEnv).
func ParseHooks(lookup func(string) (string, bool), said io.Writer) (Hooks, error) {
	h := Hooks{Said: said}
	if v, ok := lookup("RETAKE_HOLD_AT"); ok && v != "" {
		h.HoldAt = Point(v)
		if !slices.Contains(points, h.HoldAt) {
			return h, fmt.Errorf("RETAKE_HOLD_AT: unknown point %q; known are %q", v, points)
		}
	}
	if v, ok := lookup("RETAKE_CLOCK_OFFSET"); ok && v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			return h, fmt.Errorf("RETAKE_CLOCK_OFFSET: %q is no duration; write one like 25h", v)
		}
		h.ClockOffset = d
	}
	if v, ok := lookup("RETAKE_FAIL"); ok && v != "" {
		return h, h.fail(v)
	}
	return h, nil
}

func (h *Hooks) fail(v string) error {
	what, count, counted := strings.Cut(v, ":")
	if what != "payment" {
		return fmt.Errorf("RETAKE_FAIL: unknown dependency %q; known is \"payment\"", what)
	}
	h.FailPayment = true
	if !counted {
		return nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 {
		return fmt.Errorf("RETAKE_FAIL: %q is no number of charges", count)
	}
	h.FailAfter = n
	return nil
}

// holder stops writes at a point. What has come there never goes on: a process
// that is about to be killed shall do no more.
type holder struct {
	hooks Hooks
	once  sync.Once
}

func (h *holder) at(p Point) {
	if h.hooks.HoldAt != p {
		return
	}
	h.once.Do(func() {
		if h.hooks.Said != nil {
			_, _ = fmt.Fprintf(h.hooks.Said, "retake: held at %s\n", p)
		}
	})
	select {}
}
