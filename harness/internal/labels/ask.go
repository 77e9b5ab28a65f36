package labels

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/judge"
	"github.com/retake-harness/retake/harness/internal/suite"
)

// Texts are what the judge is shown of each item, without secrets: a scenario's run
// is replayed for it.
func (f *File) Texts(ctx context.Context, s *suite.Suite) ([]string, error) {
	out := make([]string, len(f.Items))
	for i := range f.Items {
		item := &f.Items[i]
		out[i] = item.Text
		if item.Scenario == "" {
			continue
		}
		text, err := f.replay(ctx, s, item)
		if err != nil {
			return nil, failure.Errorf(failure.Of(err), "%s:%d: %w", f.Name, item.Line, err)
		}
		out[i] = text
	}
	for i := range out {
		out[i] = s.Config.Hidden().Text(out[i])
	}
	return out, nil
}

// replay runs the item's scenario as it is recorded. How it ends is no matter, as
// long as there is a text.
func (f *File) replay(ctx context.Context, s *suite.Suite, item *Item) (string, error) {
	names, err := s.Select([]string{item.Scenario})
	if err != nil {
		return "", err
	}
	if len(names) != 1 {
		return "", failure.Errorf(failure.ScenarioInvalid, "%q names %d scenarios; name one", item.Scenario, len(names))
	}
	sc, err := s.Load(names[0])
	if err != nil {
		return "", err
	}
	quiet := *sc
	quiet.Expect.Golden, quiet.Expect.Judges = false, nil
	model := item.Agent
	if model == "" {
		model = sc.Models[0]
	}
	p, err := s.Params(&quiet, model, suite.Options{})
	if err != nil {
		return "", err
	}
	r := harness.Exec(ctx, p)
	if text := harness.Shown(r, f.About); text != "" && r.Verdict != harness.Broken && r.Verdict != harness.Invalid && r.Verdict != harness.NotRun {
		return text, nil
	}
	if len(r.Failures) > 0 {
		return "", failure.Errorf(r.Failures[0].Class, "the run of %s with %s has no text to judge: %s", sc.Name, model, r.Failures[0].What)
	}
	return "", failure.Errorf(failure.ScenarioInvalid, "the run of %s with %s ends without a text to judge", sc.Name, model)
}

// Ask has the judge say what it would have labelled each text, and measures how far
// that agrees. What the judge is and costs, at says.
func (f *File) Ask(ctx context.Context, by http.RoundTripper, at harness.Judge, texts []string) (*Agreement, error) {
	m := judge.Model{Name: f.Model, API: at.API, BaseURL: harness.BaseURL(harness.Params{API: at.API, BaseURL: at.BaseURL})}
	q := judge.Question{Text: f.Question, Answers: f.Answers}
	pairs := make([]Pair, len(texts))
	var used judge.Answer
	var warnings []string
	for i, text := range texts {
		item := &f.Items[i]
		a, err := judge.Ask(ctx, by, m, q, text)
		if miss, ok := errors.AsType[*cassette.Miss](err); ok {
			miss.Noun, miss.Command = "question to a judge", f.Record
		}
		if err != nil {
			return nil, failure.Errorf(failure.Of(err), "%s:%d: %w", f.Name, item.Line, err)
		}
		used.Usage.Add(a.Usage)
		pairs[i] = Pair{Line: item.Line, Label: item.Label, Judge: a.Choice}
		if a.Choice == "" {
			pairs[i].Said = cut(a.Said)
		}
		if a.Cut > 0 {
			warnings = append(warnings, fmt.Sprintf("line %d: the judge was not shown all of the text: %d bytes of its middle are left out", item.Line, a.Cut))
		}
	}
	out := Measure(f.Answers, pairs)
	out.Question, out.Model = f.Question, f.Model
	out.Tokens, out.Cost = used.Usage.Total(), at.Price.Cost(used.Usage)
	out.Warnings = append(out.Warnings, warnings...)
	return out, nil
}

// cut shortens what a judge said instead of an answer.
func cut(said string) string {
	const most = 120
	runes := []rune(said)
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return said
}
