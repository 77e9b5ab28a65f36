package harnesstest

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/body"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// judges say what a script has the models say that are asked about a run, one
// question at a time.
type judges struct {
	models map[string]*script.Model
	made   []cassette.Interaction // in the order of the questions
}

func newJudges(at map[string]harness.Judge, turns map[string][]script.Turn) *judges {
	j := &judges{models: map[string]*script.Model{}}
	for name, said := range turns {
		j.models[name] = &script.Model{Name: name, API: at[name].API, Turns: said}
	}
	return j
}

// RoundTrip implements http.RoundTripper.
func (j *judges) RoundTrip(req *http.Request) (*http.Response, error) {
	text, err := body.Read(req)
	if err != nil {
		return nil, err
	}
	name := askedModel(req, text)
	m, ok := j.models[name]
	if !ok {
		return nil, failure.Errorf(failure.ScenarioInvalid, "the script has nothing that the judge %q says; write it under Recording.Judges", name)
	}
	again := req.Clone(req.Context())
	again.Body = io.NopCloser(body.Of(text))
	resp, err := m.RoundTrip(again)
	if kept := m.Interactions(); err == nil && len(kept) > 0 {
		j.made = append(j.made, kept[len(kept)-1])
	}
	return resp, err
}

// askedModel is the model that a request is for.
func askedModel(req *http.Request, text []byte) string {
	api, ok := codec.Detect(req.Method, req.URL.String(), text)
	if !ok {
		return ""
	}
	c, _ := codec.For(api) // it knows what it detects
	asked, err := c.DecodeRequest(req.URL.RequestURI(), text)
	if err != nil {
		return ""
	}
	return asked.Model
}

// left fails tb for turns that nobody asked for.
func (j *judges) left(tb testing.TB, name string) {
	tb.Helper()
	for _, m := range slices.Sorted(maps.Keys(j.models)) {
		if left := j.models[m].Left(); len(left) > 0 {
			tb.Errorf("%s: the judge %s was not asked for what it says in turn %v", name, m, left)
		}
	}
}
