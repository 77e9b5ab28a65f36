package rerecord

import (
	"context"
	"runtime"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/live"
)

// State is what came of a job.
type State string

// The states.
const (
	Recorded State = "recorded" // the cassette is written, and replays as expected
	Review   State = "review"   // the cassette is written; what it replays is not as expected
	Stopped  State = "stopped"  // nothing was replaced
	NotBegun State = "not begun"
)

// Taken is what came of a job.
type Taken struct {
	Job
	State State
	// Class is why a job was stopped or not begun, or that of the first failure of
	// the replay; "" for one that was recorded.
	Class    failure.Class
	Why      string // one sentence, for what was stopped or not begun
	Next     string // what to do then; "" for nothing
	Failed   []*harness.Result
	Spent    live.Spent
	Kept     int // requests that an interrupted session had paid for
	Files    []string
	Warnings []string
}

// Record makes the recordings and calls emit with what came of each, in the order
// of the jobs. A session that has come to its cap, or is interrupted, begins no
// further ones.
func (p *Plan) Record(ctx context.Context, emit func(*Taken)) live.Spent {
	session := live.NewSession(p.options.Cap, p.options.Next)
	session.Watch = p.options.Watch
	defer session.Close()
	r := &recording{plan: p, session: session}
	groups := p.groups()
	slots := make([]chan []*Taken, len(groups))
	work := make(chan int)
	for i := range slots {
		slots[i] = make(chan []*Taken, 1)
	}
	for range max(1, min(p.options.Parallel, len(groups), mostAtOnce*runtime.GOMAXPROCS(0))) {
		go func() {
			for i := range work {
				slots[i] <- r.group(ctx, groups[i])
			}
		}()
	}
	go func() {
		defer close(work)
		for i := range groups {
			work <- i
		}
	}()
	for _, slot := range slots {
		for _, t := range <-slot {
			emit(t)
		}
	}
	return session.Spent()
}

// mostAtOnce bounds the scenarios that are recorded at once, for each processor:
// they wait for the network.
const mostAtOnce = 8

// groups are the jobs of one scenario each: they share its tools' cassette.
func (p *Plan) groups() [][]Job {
	var out [][]Job
	for i, j := range p.Jobs {
		if i == 0 || p.Jobs[i-1].Scenario != j.Scenario {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], j)
	}
	return out
}

// recording is a session at work.
type recording struct {
	plan    *Plan
	session *live.Session
}

func (r *recording) group(ctx context.Context, jobs []Job) []*Taken {
	out := make([]*Taken, len(jobs))
	for i := range jobs {
		t := &Taken{Job: jobs[i]}
		switch why := r.session.Reached(); {
		case ctx.Err() != nil:
			t.stop(NotBegun, failure.Interrupted, "interrupted", "")
		case why != "":
			t.stop(NotBegun, failure.Budget, "the session's cap is reached: "+why, nextCap)
		default:
			r.one(ctx, t)
		}
		out[i] = t
	}
	return out
}

const nextCap = "record again to go on where this stopped; another cap: --max-tokens, --max-cost, or record in retake.yaml"

func (t *Taken) stop(state State, class failure.Class, why, next string) {
	t.State, t.Class, t.Why, t.Next = state, class, why, next
}

// fail stops the job for an error.
func (t *Taken) fail(err error, next string) {
	t.stop(Stopped, failure.Of(err), err.Error(), next)
}
