package compare

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-harness/retake/harness/report"
)

// changed says what differs in what went into the two sides.
func changed(a, b *side, p *pairs) []Change {
	out := []Change{}
	differs := func(what, old, now string) {
		if old != now {
			out = append(out, Change{What: what, Old: old, New: now})
		}
	}
	differs("model", strings.Join(a.subject().Models, ", "), strings.Join(b.subject().Models, ", "))
	for _, part := range []struct {
		what string
		of   func(*report.Hashes) string
	}{
		{"prompt", func(h *report.Hashes) string { return h.Prompt }},
		{"tools", func(h *report.Hashes) string { return h.Tools }},
		{"scenario", func(h *report.Hashes) string { return h.Scenario }},
	} {
		if where := whereHashes(a, b, p, part.of); len(where) > 0 {
			out = append(out, Change{What: part.what, Scenarios: where})
		}
	}
	if where := otherRecordings(p); len(where) > 0 {
		out = append(out, Change{What: "cassette", Scenarios: where})
	}
	ra, rb := &a.doc.Run, &b.doc.Run
	differs("agent", ra.Tool, rb.Tool)
	differs("Go", ra.Go, rb.Go)
	differs("prices as of", ra.Prices, rb.Prices)
	differs("seed", strconv.FormatUint(ra.Seed, 10), strconv.FormatUint(rb.Seed, 10))
	differs("live", strconv.FormatBool(ra.Live), strconv.FormatBool(rb.Live))
	return out
}

func whereHashes(a, b *side, p *pairs, of func(*report.Hashes) string) []string {
	var where []string
	for _, one := range p.all {
		if of(&a.groups[one.key].hashes) != of(&b.groups[one.key].hashes) {
			where = append(where, one.name)
		}
	}
	return slices.Compact(where)
}

// otherRecordings are the scenarios that do not replay the same on both sides.
func otherRecordings(p *pairs) []string {
	var where []string
	for _, one := range p.all {
		if !one.exact {
			where = append(where, one.name)
		}
	}
	return slices.Compact(where)
}

func figuresAdded(a, b *side) []Figure {
	out := make([]Figure, figureCount)
	for f := range figureCount {
		out[f] = Figure{Name: figureNames[f], Unit: figureUnits[f], OldUnknown: a.counts.unknown[f], NewUnknown: b.counts.unknown[f]}
		out[f].Old, out[f].New = a.counts.sum(f), b.counts.sum(f)
	}
	return out
}

var figureUnits = [figureCount]string{"usd", "usd", "tokens", "tokens", "tokens", "us", "calls", "calls"}

func (c *counts) sum(f figure) *float64 {
	if c.unknown[f] == c.runs {
		return nil
	}
	return new(c.sums[f])
}

// classesOf are the classes of the runs that did not pass.
func classesOf(a, b *side) []Class {
	by := map[string]*Class{}
	at := func(class string) *Class {
		if by[class] == nil {
			by[class] = &Class{Class: class}
		}
		return by[class]
	}
	for _, m := range []map[string]int{a.counts.classes, a.counts.excludedBy} {
		for class, n := range m {
			at(class).Old += n
		}
	}
	for _, m := range []map[string]int{b.counts.classes, b.counts.excludedBy} {
		for class, n := range m {
			at(class).New += n
		}
	}
	out := make([]Class, 0, len(by))
	for _, class := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[class])
	}
	return out
}
