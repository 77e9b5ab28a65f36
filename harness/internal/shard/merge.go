package shard

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/report"
)

// Source is the report of one part.
type Source struct {
	Path  string
	doc   *report.Document // without its entries
	names []string         // of its entries, in their order
}

// Sources reads the reports of all parts of one run and refuses what would not
// give the report of the whole: a part that is missing or there twice, parts of
// different splits, of different versions, or run in different ways.
func Sources(paths []string) ([]*Source, error) {
	var all []*Source
	for _, path := range paths {
		doc, names, err := survey(path)
		if err != nil {
			return nil, err
		}
		if doc.Run.Shard == nil {
			return nil, failure.Errorf(failure.ScenarioInvalid, "%s: this is the report of a whole run, no part of one; parts are made with: retake run --shard 1/4", path)
		}
		all = append(all, &Source{Path: path, doc: doc, names: names})
	}
	if len(all) == 0 {
		return nil, failure.Errorf(failure.ScenarioInvalid, "name the reports of all parts, as in: retake merge part-1 part-2")
	}
	for _, s := range all[1:] {
		if err := s.fits(all[0]); err != nil {
			return nil, err
		}
	}
	if err := complete(all); err != nil {
		return nil, err
	}
	return all, disjoint(all)
}

// fits refuses a part that was not run like the first one.
func (s *Source) fits(first *Source) error {
	a, b := &first.doc.Run, &s.doc.Run
	for _, x := range []struct{ what, a, b, next string }{
		{"schema", first.doc.Schema, s.doc.Schema, "run all parts with one retake"},
		{"version", a.Tool, b.Tool, "run all parts with one retake"},
		{"version of Go", a.Go, b.Go, "run all parts with one retake"},
		{"plan", a.Shard.Plan, b.Shard.Plan, "the parts were split by different reports, or ran different scenarios; give each the same --shard-times REPORT"},
		{"rubric", a.Rubric, b.Rubric, "run all parts with the same retake.yaml"},
	} {
		if x.a != x.b {
			return failure.Errorf(failure.ScenarioInvalid, "%s and %s are no parts of one run: the %s of one is %q, of the other %q; %s", first.Path, s.Path, x.what, x.a, x.b, x.next)
		}
	}
	if a.Shard.Of != b.Shard.Of || a.Seed != b.Seed || a.Prices != b.Prices || a.Live != b.Live || a.Trials != b.Trials {
		return failure.Errorf(failure.ScenarioInvalid, "%s and %s are no parts of one run: one is of %d parts, with the seed %d, %d trials and prices of %q, the other of %d, with %d, %d and %q; run all parts with the same flags and files",
			first.Path, s.Path, a.Shard.Of, a.Seed, max(a.Trials, 1), a.Prices, b.Shard.Of, b.Seed, max(b.Trials, 1), b.Prices)
	}
	return nil
}

// complete wants each part once.
func complete(all []*Source) error {
	have := map[int]*Source{}
	for _, s := range all {
		i := s.doc.Run.Shard.Index
		if other := have[i]; other != nil {
			return failure.Errorf(failure.ScenarioInvalid, "%s and %s are both part %d of %d; name each part once", other.Path, s.Path, i, s.doc.Run.Shard.Of)
		}
		have[i] = s
	}
	of := all[0].doc.Run.Shard.Of
	var missing []int
	for i := 1; i <= of; i++ {
		if have[i] == nil {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 || len(have) != of {
		return failure.Errorf(failure.ScenarioInvalid, "the run has %d parts, and there is no report of %s; name the reports of all", of, spell(missing))
	}
	return nil
}

func spell(parts []int) string {
	const most = 5
	var words []string
	for _, i := range parts[:min(len(parts), most)] {
		words = append(words, strconv.Itoa(i))
	}
	if more := len(parts) - most; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}

// disjoint wants each scenario in one part.
func disjoint(all []*Source) error {
	where := map[string]*Source{}
	for _, s := range all {
		for _, name := range s.names {
			if other := where[name]; other != nil && other != s {
				return failure.Errorf(failure.ScenarioInvalid, "the scenario %s is in %s and in %s; run the parts anew", name, other.Path, s.Path)
			}
			where[name] = s
		}
		if !slices.IsSorted(s.names) {
			return failure.Errorf(failure.ScenarioInvalid, "%s: the report is damaged: its entries are not in the order of their names", s.Path)
		}
	}
	return nil
}

// Options are those of the whole run's report, as its parts have them.
func Options(all []*Source) report.Options {
	run := all[0].doc.Run
	o := report.Options{Tool: run.Tool, Go: run.Go, Prices: run.Prices, Seed: run.Seed, Rubric: run.Rubric, Live: run.Live, Trials: run.Trials}
	for _, s := range all {
		o.Parallel = max(o.Parallel, s.doc.Run.Volatile.Parallel)
	}
	return o
}

// Interrupted tells whether one of the parts was.
func Interrupted(all []*Source) bool {
	return slices.ContainsFunc(all, func(s *Source) bool { return s.doc.Run.Volatile.Stopped })
}

// Merge hands over the entries of all parts in the order of the whole run.
func Merge(all []*Source, add func(e *report.Entry, stamp report.Stamp, transcript []byte) error) error {
	var open []*cursor
	for _, s := range all {
		c := newCursor(s)
		defer c.stop()
		if err := c.advance(); err != nil {
			return err
		}
		open = append(open, c)
	}
	for {
		c := first(open)
		if c == nil {
			return nil
		}
		text, err := report.TranscriptOf(c.dir(), *c.entry)
		if err != nil {
			return err
		}
		if err := add(c.entry, c.source.doc.Run.Volatile.Entries[c.at], []byte(text)); err != nil {
			return err
		}
		c.at++
		if err := c.advance(); err != nil {
			return err
		}
	}
}

// cursor goes over the entries of one part.
type cursor struct {
	source *Source
	next   func() (*report.Entry, error, bool)
	stop   func()
	entry  *report.Entry // nil: no more
	at     int
}

func newCursor(s *Source) *cursor {
	next, stop := iter.Pull2(func(yield func(*report.Entry, error) bool) {
		_, err := report.Stream(s.Path, func(e *report.Entry) error {
			if !yield(e, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	})
	return &cursor{source: s, next: next, stop: stop}
}

var errStopped = errors.New("stopped")

func (c *cursor) dir() string { return filepath.Dir(report.File(c.source.Path)) }

func (c *cursor) advance() error {
	e, err, ok := c.next()
	if !ok {
		e = nil
	}
	if e != nil && c.at >= len(c.source.names) {
		err = failure.Errorf(failure.World, "%s: the report has changed while it was read", c.source.Path)
	}
	c.entry = e
	return err
}

// first is the part whose entry comes first by its scenario's name.
func first(open []*cursor) *cursor {
	var out *cursor
	for _, c := range open {
		if c.entry != nil && (out == nil || c.entry.Name < out.entry.Name) {
			out = c
		}
	}
	return out
}
