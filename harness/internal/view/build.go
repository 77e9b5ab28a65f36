package view

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/sweep"
)

// Build reads reports and puts the page together. A report that somebody named
// and that cannot be read is an error; one that was found in a folder is a
// problem, and the page has the others.
func Build(ctx context.Context, reports []Report) (*Page, error) {
	b := &builder{words: newWords()}
	b.index.Format = Format
	for _, r := range reports {
		if ctx.Err() != nil {
			return nil, failure.Errorf(failure.Interrupted, "interrupted")
		}
		before := *b
		if err := b.report(r); err != nil {
			if r.Named {
				return nil, err
			}
			// What it has put into the words stays, and is harmless.
			b.index, b.chunks = before.index, before.chunks
			b.problems = append(b.problems, err)
		}
	}
	for _, err := range b.problems {
		b.index.Problems = append(b.index.Problems, err.Error())
	}
	b.index.Strings, b.index.Lists = b.words.strings, b.words.lists
	text, err := packed(&b.index)
	if err != nil {
		return nil, err
	}
	return &Page{Problems: b.problems, index: text, chunks: b.chunks}, nil
}

type builder struct {
	index    index
	words    *words
	chunks   []string
	problems []error
}

// chunk packs a value and says its number.
func (b *builder) chunk(v any) (int, error) {
	text, err := packed(v)
	if err != nil {
		return 0, err
	}
	b.chunks = append(b.chunks, text)
	return len(b.chunks) - 1, nil
}

func (b *builder) report(r Report) error {
	switch r.Kind {
	case SweepReport:
		return b.sweep(r)
	case DrillReport:
		return b.drill(r)
	default:
		return b.run(r)
	}
}

// run reads a report entry by entry.
func (b *builder) run(r Report) error {
	dir := filepath.Dir(report.File(r.Path))
	out := run{Where: filepath.ToSlash(dir)}
	now := &chunk{}
	flush := func() error {
		if len(now.Entries) == 0 {
			return nil
		}
		n, err := b.chunk(now)
		out.Chunks = append(out.Chunks, part{N: len(now.Entries), Entries: n})
		now = &chunk{}
		return err
	}
	var lost error
	doc, err := report.Stream(r.Path, func(e *report.Entry) error {
		text, err := report.TranscriptOf(dir, *e)
		if err != nil && lost == nil {
			lost = err
		}
		out.Entries.add(b.words, e, body(text))
		now.add(e, text)
		if now.full() {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		err = b.stamps(&out, doc.Run.Volatile.Entries)
	}
	if err != nil {
		return err
	}
	if lost != nil {
		b.problems = append(b.problems, fmt.Errorf("some transcripts are not in the page: %w", lost))
	}
	doc.Run.Volatile.Entries = nil
	out.Run, out.Totals = doc.Run, doc.Totals
	b.index.Runs = append(b.index.Runs, out)
	return nil
}

// stamps are the ids of entries. They come at a report's end, when its chunks are
// made, so they have chunks of their own, with as many.
func (b *builder) stamps(r *run, all []report.Stamp) error {
	for i := range r.Chunks {
		p := &r.Chunks[i]
		n := min(p.N, len(all))
		at, err := b.chunk(all[:n])
		if err != nil {
			return err
		}
		p.Stamps, all = at, all[n:]
	}
	return nil
}

// matrix is a sweep or a drill without its cells.
type matrix struct {
	Kind     Kind   `json:"kind"`
	Where    string `json:"where"`
	Name     string `json:"name"` // the scenario, or the drill
	Of       string `json:"of"`   // the model, or the tool
	Held     int    `json:"held"`
	Breached int    `json:"breached"`
	Diverged int    `json:"diverged"` // of a sweep
	Warnings int    `json:"warnings"` // of a drill
	None     int    `json:"not_applicable"`
	NotRun   int    `json:"not_run"`
	Chunk    int    `json:"chunk"`
}

func (b *builder) sweep(r Report) error {
	doc, err := read[sweep.Report](r.Path, sweep.Schema)
	if err != nil {
		return err
	}
	n, err := b.chunk(doc)
	t := doc.Totals
	b.index.Matrices = append(b.index.Matrices, matrix{
		Kind: r.Kind, Where: filepath.ToSlash(r.Path), Name: doc.Scenario, Of: doc.Model,
		Held: t.Held, Breached: t.Breached, Diverged: t.Diverged, None: t.NotApplicable, NotRun: t.NotRun, Chunk: n,
	})
	return err
}

func (b *builder) drill(r Report) error {
	doc, err := read[drill.Report](r.Path, drill.Schema)
	if err != nil {
		return err
	}
	n, err := b.chunk(doc)
	t := doc.Totals
	b.index.Matrices = append(b.index.Matrices, matrix{
		Kind: r.Kind, Where: filepath.ToSlash(r.Path), Name: doc.Drill, Of: doc.Tool,
		Held: t.Held, Breached: t.Breached, Warnings: t.Warnings, None: t.NotApplicable, NotRun: t.NotRun, Chunk: n,
	})
	return err
}
