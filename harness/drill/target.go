package drill

import (
	"context"
	"time"

	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/tool"
)

// Point is a place in a write where a process can be made to stand still, so that
// it can be killed exactly there.
type Point string

// The points, in the order in which a write passes them.
const (
	BeforeReserve Point = "before_reserve" // the call has arrived, nothing is written
	AfterReserve  Point = "after_reserve"  // the key is taken
	AfterEffect   Point = "after_effect"   // the effect is there, its record is not
	AfterRecord   Point = "after_record"   // the result is stored, the answer not sent
)

// Points are all points.
func Points() []Point { return []Point{BeforeReserve, AfterReserve, AfterEffect, AfterRecord} }

// Abilities say what a target can do. A row that needs what is not there is not
// applicable, with the reason.
type Abilities struct {
	// Restart says that an instance can be closed, and another opened on the same
	// state. Kill says that it can be killed too, a real death: nothing of it runs on.
	Restart, Kill bool
	Points        []Point  // where an instance can be held, to be killed there
	Clock         bool     // an instance can be told that it is later: Start.ClockOffset
	Fail          []string // dependencies that an instance can be told to find broken
	// Together says that several instances may be open on one state at once.
	Together bool
	// Remembers says that a World is not empty when it is made: keys of an earlier
	// drill are known there, and this one has to take others.
	Remembers bool
	Entrance  bool // who has no token is to be kept out: its World is an Entrance
	// Principals are who may call, the first by default. With none everybody is the
	// same.
	Principals []string
}

// Target is where a tool lives, with all that a drill may do to it.
type Target interface {
	Can() Abilities
	// World makes a state of its own, for one row: empty where that can be had, and
	// in any case undisturbed by others.
	World(ctx context.Context) (World, error)
}

// World is the state of one row. It outlives the instances that are opened on it.
type World interface {
	// Open starts an instance. It lives until Kill or Close, or until ctx ends.
	Open(ctx context.Context, s Start) (Instance, error)
	Close()
}

// Start says how an instance is started. The zero value is the usual one.
type Start struct {
	Principal   string // who calls; "" is the first of Abilities.Principals
	HoldAt      Point  // stand still there; "" nowhere
	ClockOffset time.Duration
	Fail        string // the dependency that is broken
}

// Instance is a running process (or what stands for one), on a state.
type Instance interface {
	tool.Executor
	effect.Probe
	// Held is closed when the instance has come to the point where it is held.
	Held() <-chan struct{}
	// Kill ends it at once, as kill -9 does, and Close in good form. When they
	// return, nothing of it runs.
	Kill()
	Close()
}

// Token is what somebody shows at the entrance of a tool.
type Token string

// The tokens that must not be let in.
const (
	NoToken    Token = "no token"
	WrongToken Token = "a wrong token"
)

// Entrance is a World whose tools are behind a door, as those over HTTP are.
type Entrance interface {
	// Knock asks to be let in, and returns the HTTP status of the answer.
	Knock(ctx context.Context, t Token) (status int, err error)
}
