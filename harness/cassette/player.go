package cassette

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/body"
)

// Options say how a Player matches and answers. The zero value matches by
// meaning where a codec knows the request, and answers at once.
//
// Recordings that match the same request answer it in the order of the file,
// also where they spell it in different ways: an exact spelling overtakes
// nothing.
type Options struct {
	Match   Mode
	Ignore  []string // JSON pointers into the request body, * for any member or element; what they name does not count
	Headers []string // names of request headers that count; none by default
	Meaning Meaning  // for mode normalised; nil asks the codec of the request's API

	// Record is the scenario's name in the advice to re-record; by default it is
	// taken from the cassette's path.
	Record string

	// BareMisses spares the comparison of a request that missed with what was
	// recorded: for replays in which misses are expected.
	BareMisses bool

	// Redact is what was taken out of the recordings, and is taken out of requests
	// before they are compared.
	Redact Redaction

	// Wait lets time pass: the recorded latency before an answer, and the pace of
	// a recorded stream. nil answers at once; see Pace for another speed.
	Wait func(ctx context.Context, d time.Duration) error
	// Observe is told of every answer, before it is given. It may be called from
	// several goroutines.
	Observe func(Played)
}

// Played tells which recording answered a request.
type Played struct {
	Ordinal   int // of the request, from 1
	Recording int // its number in the file, from 1
	Duration  time.Duration
}

// Player is a http.RoundTripper that answers from a cassette and never dials.
// It may be used by many goroutines; each recording answers once. A request
// without a free recording gets an error of class cassette_miss whose chain has
// a *Miss.
type Player struct {
	file    *File
	opts    Options
	matcher *matcher
	rules   *rules
	index   *index

	mu      sync.Mutex
	ordinal int
	misses  []*Miss
}

// NewPlayer prepares the replay of f. A wrong option is of class
// scenario_invalid, a recorded URL that is none of class cassette_invalid.
func NewPlayer(f *File, opts Options) (*Player, error) {
	if opts.Meaning == nil {
		opts.Meaning = codecMeaning
	}
	rules, err := opts.Redact.rules()
	if err != nil {
		return nil, err
	}
	counting := slices.DeleteFunc(slices.Clone(opts.Headers), func(h string) bool { return !rules.counts(http.CanonicalHeaderKey(h)) })
	m, err := newMatcher(opts.Match, opts.Ignore, counting, opts.Meaning)
	if err != nil {
		return nil, err
	}
	if opts.Record == "" {
		opts.Record = scenarioName(f.Name)
	}
	questions := make([]question, len(f.Interactions))
	for i := range f.Interactions {
		q := &f.Interactions[i].Request
		u, err := url.Parse(q.URL)
		if err != nil {
			return nil, invalid(f.Name, f.Interactions[i].Line, 1, "interaction %d has the url %q, which is none", i+1, q.URL)
		}
		questions[i] = question{m.place(q.Method, u, q.Header.Get), rules.question(q.Header.Get("Content-Encoding"), q.Body)}
	}
	p := &Player{file: f, opts: opts, matcher: m, rules: rules}
	key := m.key
	if m.mode == Sequence {
		key = nil
	}
	p.index = newIndex(questions, key)
	return p, nil
}

// RoundTrip answers req from the cassette. The answer shares nothing that its
// receiver could change with a later one.
func (p *Player) RoundTrip(req *http.Request) (*http.Response, error) {
	text, err := body.Read(req)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	q := p.question(req, text)
	ordinal := p.nextOrdinal()
	recording, known := p.index.take(q)
	if recording < 0 {
		return nil, p.miss(q, ordinal, known)
	}
	in := &p.file.Interactions[recording]
	if p.opts.Observe != nil {
		p.opts.Observe(Played{Ordinal: ordinal, Recording: recording + 1, Duration: in.Response.Duration})
	}
	plain, err := uncompressed(req, in)
	if err != nil {
		return nil, invalid(p.file.Name, in.Line, 1, "interaction %d: %s", recording+1, err)
	}
	return answer(req, plain, p.opts.Wait)
}

// question is what a request asks, without what recordings do not have.
func (p *Player) question(req *http.Request, text []byte) question {
	return question{p.matcher.place(req.Method, req.URL, req.Header.Get), p.rules.question(req.Header.Get("Content-Encoding"), text)}
}

func (p *Player) nextOrdinal() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ordinal++
	return p.ordinal
}

func (p *Player) miss(q question, ordinal int, known []int32) error {
	m := explain(p.file, p.matcher, p.index, q, ordinal, known, p.opts.BareMisses)
	m.Noun, m.Record = "model request", p.opts.Record
	p.mu.Lock()
	defer p.mu.Unlock()
	p.misses = append(p.misses, m)
	return failure.Wrap(failure.CassetteMiss, m)
}

// Misses are the requests that found no recording so far, whether or not the
// agent passed the error on.
func (p *Player) Misses() []*Miss {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*Miss(nil), p.misses...)
}

// Unplayed are the recordings that no request has asked for so far.
func (p *Player) Unplayed() []Unplayed {
	return unplayed(p.file, p.index)
}

// Fresh is a player of the same recordings, none of them used, that shares with p
// what it has found out about them.
func (p *Player) Fresh() *Player {
	return &Player{file: p.file, opts: p.opts, matcher: p.matcher, rules: p.rules, index: p.index.fresh()}
}

// Rewind begins the replay anew: every recording is free again. Misses stay.
func (p *Player) Rewind() { p.index.rewind() }

// Pace makes a Wait that lets recorded time pass at another speed: 1 is as recorded,
// 10 plays a minute in six seconds, 0 or less does not wait at all. wait lets time
// pass, as clock.Sleep does.
func Pace(speed float64, wait func(ctx context.Context, d time.Duration) error) func(ctx context.Context, d time.Duration) error {
	if speed <= 0 {
		return nil
	}
	return func(ctx context.Context, d time.Duration) error {
		return wait(ctx, time.Duration(float64(d)/speed))
	}
}
