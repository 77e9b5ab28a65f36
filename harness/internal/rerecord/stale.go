package rerecord

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/scenario"
)

// Tier says how much a finding matters.
type Tier string

// The tiers. An error makes a recording stale, or a fresh run another one.
const (
	Info  Tier = "info"
	Warn  Tier = "warn"
	Error Tier = "error"
)

// Finding is one thing that is no longer as it was.
type Finding struct {
	Tier Tier   `json:"tier"`
	What string `json:"what"` // prompt, tools, scenario, model, sdk, age, cassette, notes; of a fresh run calls, arguments, stop, turns, text, usage, run
	Text string `json:"text"` // one sentence
}

// Drifted is what there is to say of one recording.
type Drifted struct {
	Scenario string    `json:"scenario"`
	Model    string    `json:"model"`
	Fault    string    `json:"fault,omitzero"`
	File     string    `json:"file"`
	Findings []Finding `json:"findings,omitzero"` // the worst first; none: nothing has changed
}

// Worst is the tier of the worst finding; "" without any.
func (d *Drifted) Worst() Tier {
	if len(d.Findings) == 0 {
		return ""
	}
	return d.Findings[0].Tier
}

// sort brings the worst first.
func (d *Drifted) sort() {
	rank := map[Tier]int{Error: 0, Warn: 1, Info: 2}
	slices.SortStableFunc(d.Findings, func(a, b Finding) int { return rank[a.Tier] - rank[b.Tier] })
}

// Now is what recordings are held against.
type Now struct {
	Hashes  harness.Hashes
	Model   string
	SDK     string // of the reference loop; "" is not known
	Expires time.Duration
	Time    time.Time
}

// Stale says what has changed since a recording was made. What its notes do not say
// is not known. A recording that was written by hand does not age.
func Stale(notes *cassette.FileNotes, now *Now) []Finding {
	var out []Finding
	add := func(t Tier, what, text string) { out = append(out, Finding{t, what, text}) }
	if notes.Hashes == (cassette.Hashes{}) {
		add(Info, "notes", "what it was made with is not known: it has no hashes of the prompt, the tools and the scenario")
	}
	changed := false
	for _, h := range []struct{ what, was, is, text string }{
		{"prompt", notes.Hashes.System, now.Hashes.Prompt, "what the model is told has changed since"},
		{"tools", notes.Hashes.Tools, now.Hashes.Tools, "what the model is told of the tools has changed since"},
	} {
		if h.was != "" && h.was != h.is {
			changed = true
			add(Error, h.what, h.text)
		}
	}
	if was := notes.Hashes.Scenario; was != "" && was != now.Hashes.Scenario && !changed {
		add(Info, "scenario", "the scenario's file has changed since, and neither its texts nor its tools; a replay tells whether it still fits")
	}
	if was := notes.Model; was != "" && was != now.Model {
		add(Error, "model", fmt.Sprintf("it was recorded with the model %q", was))
	}
	if was := notes.SDK; was != "" && now.SDK != "" && was != now.SDK {
		add(Info, "sdk", fmt.Sprintf("it was recorded by %s, now it is %s", was, now.SDK))
	}
	return append(out, age(notes, now)...)
}

func age(notes *cassette.FileNotes, now *Now) []Finding {
	if notes.Source == cassette.Scripted {
		return nil
	}
	at, err := time.Parse(time.RFC3339, notes.RecordedAt)
	if err != nil {
		return []Finding{{Info, "age", "when it was recorded is not known"}}
	}
	if old := now.Time.Sub(at); old > now.Expires {
		return []Finding{{Error, "age", fmt.Sprintf("it is %d days old, and expires after %s", int(old.Hours()/24), days(now.Expires))}}
	}
	return nil
}

// days spells a length of time.
func days(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day {
		return fmt.Sprintf("%d days", d/day)
	}
	return d.String()
}

// Offline tells of each recording of the scenarios what has changed since it was
// made, without going live.
func Offline(s *suite.Suite, names []string, o Options, now time.Time) ([]Drifted, error) {
	var out []Drifted
	for _, name := range names {
		sc, err := s.Load(name)
		if err != nil {
			return nil, err
		}
		for _, m := range suite.ModelsOf(sc, o.Models, o.Labels) {
			is := Now{Hashes: harness.HashesOf(sc), Model: m, Expires: expires(s, sc), Time: now}
			if sc.API != "" || len(s.Config.Models) > 0 {
				is.SDK = ownSDK(s, sc, m, o.SDK)
			}
			more, err := offline(s, sc, m, &is)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	return out, s.CheckNames(suite.Options{Models: o.Models, Labels: o.Labels})
}

func expires(s *suite.Suite, sc *scenario.Scenario) time.Duration {
	if sc.Expires > 0 {
		return sc.Expires
	}
	return s.Config.Record.Expires
}

// offline looks at the recording without faults, and at those under faults.
func offline(s *suite.Suite, sc *scenario.Scenario, model string, now *Now) ([]Drifted, error) {
	path := harness.ModelCassette(s.Dirs.Cassettes, sc.Name, model)
	first, err := drifted(sc.Name, model, "", path, now)
	if err != nil {
		return nil, err
	}
	out := []Drifted{*first}
	for i := range sc.Variants {
		v := &sc.Variants[i]
		if v.OnDivergence != scenario.DivergeRecorded {
			continue
		}
		d, err := drifted(sc.Name, model, v.ID, harness.UnderVariant(path, v.ID), now)
		if err != nil {
			return nil, err
		}
		out = append(out, *d)
	}
	return out, nil
}

func drifted(name, model, fault, path string, now *Now) (*Drifted, error) {
	d := &Drifted{Scenario: name, Model: model, Fault: fault, File: path}
	f, err := cassette.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.Findings = []Finding{{Error, "cassette", "there is no recording"}}
	case err != nil:
		return nil, err
	default:
		d.Findings = Stale(&f.Notes, now)
	}
	d.sort()
	return d, nil
}
