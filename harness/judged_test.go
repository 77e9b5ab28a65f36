package harness_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/wire"
)

// greets is a question about what the scenario hello says.
var greets = scenario.Judge{Question: "Does it greet?", Answers: []string{"yes", "no"}, Accept: []string{"yes"}, Model: "m-j", About: scenario.AboutAnswer}

// judged has the run of hello judged by what a script says.
func judged(says *script.Model, of ...scenario.Judge) func(*harness.Params) {
	says.API, says.Name = wire.OpenAIChat, "m-j"
	return func(p *harness.Params) {
		replaysJudges(of...)(p)
		j := p.Judges["m-j"]
		j.Transport = says
		p.Judges["m-j"] = j
	}
}

// replaysJudges has the run judged by what is recorded.
func replaysJudges(of ...scenario.Judge) func(*harness.Params) {
	return func(p *harness.Params) {
		sc := *p.Scenario
		sc.Expect.Judges = of
		p.Scenario = &sc
		p.Judges = map[string]harness.Judge{"m-j": {API: wire.OpenAIChat, Price: &harness.Price{Input: new(2.0), Output: new(10.0)}}}
	}
}

func says(texts ...string) *script.Model {
	m := &script.Model{}
	for _, text := range texts {
		m.Turns = append(m.Turns, script.Turn{Text: text, Usage: script.Usage{Input: 100, Output: 1}})
	}
	return m
}

func TestWhatAJudgeSays(t *testing.T) {
	p := newProject(t)
	plain := p.exec("hello", func(*harness.Params) {})
	r := p.exec("hello", judged(says("Yes"), greets))
	if r.Verdict != harness.Pass || len(r.Judged) != 1 || r.Judged[0].Answer != "yes" || !r.Judged[0].Accepted || *r.Judged[0].Cost != 0.00021 {
		t.Errorf("%s %+v %+v", r.Verdict, r.Failures, r.Judged)
	}
	if string(r.Transcript) != string(plain.Transcript) || r.Tokens.Total() != plain.Tokens.Total() || len(r.Models) != len(plain.Models) || r.Latency != plain.Latency {
		t.Error("a judge is part of the run")
	}
	wants(t, "not accepted", p.exec("hello", judged(says("no"), greets)), harness.Fail, failure.Expectation, failure.PartModel, `the judge m-j answers "no" to "Does it greet?" about the answer, expected yes`)
	wants(t, "no allowed answer", p.exec("hello", judged(says("Yes, it does."), greets)), harness.Diverged, failure.Unjudged, failure.PartScenario, `gave no allowed answer: it said "Yes, it does.", and may say yes, no`)
	wants(t, "no answer at all", p.exec("hello", judged(&script.Model{Turns: []script.Turn{{Status: 529, Error: &wire.APIError{Type: "overloaded_error"}}}}, greets)),
		harness.Diverged, failure.Unjudged, failure.PartScenario, "the judge m-j gave no answer: ")
	again := greets
	again.Question = "Is it short?"
	wants(t, "what failed weighs more than what is open", p.exec("hello", judged(says("perhaps", "no"), greets, again)), harness.Fail, failure.Unjudged, failure.PartScenario, "no allowed answer")
	unknown := greets
	unknown.Model = "m-x"
	wants(t, "a judge that nobody knows", p.exec("hello", judged(says(), unknown)), harness.Invalid, failure.ScenarioInvalid, failure.PartScenario, `the judge "m-x": its API is not known`)
}

// sent notes what was sent to a judge.
type sent struct {
	next http.RoundTripper
	text string
}

func (s *sent) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	buf := make([]byte, 1<<20)
	n, _ := body.Read(buf)
	b.Write(buf[:n])
	s.text = b.String()
	return s.next.RoundTrip(req)
}

// A judge learns neither secrets nor whose answer it is.
func TestWhatAJudgeIsShown(t *testing.T) {
	p := newProject(t)
	all := greets
	all.About = scenario.AboutTranscript
	m := &sent{next: says("yes")}
	r := p.exec("hello", func(hp *harness.Params) {
		judged(m.next.(*script.Model), all)(hp)
		j := hp.Judges["m-j"]
		j.Transport = m
		hp.Judges["m-j"] = j
		hp.Secrets = redact.New(redact.Secret{Name: "GREETING", Value: "Hello!"})
		hp.Unread = true
	})
	if len(r.Judged) != 1 || strings.Contains(m.text, "Hello!") || strings.Contains(m.text, "m-1") || !strings.Contains(m.text, "Say hello.") || !strings.Contains(m.text, "assistant") {
		t.Errorf("%+v: %s", r.Judged, m.text)
	}
}

// saved files what a script has said as what judges said of the run.
func (p project) saved(path string, m *script.Model) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(path)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := cassette.Save(p.path(path), &cassette.File{Version: 2, Interactions: m.Interactions()}); err != nil {
		p.t.Fatal(err)
	}
}

func TestWhatJudgesSaidIsReplayed(t *testing.T) {
	p := newProject(t)
	wants(t, "nothing is recorded", p.exec("hello", replaysJudges(greets)), harness.Broken, failure.World, failure.PartCassette, "hello/judge/m-1.yaml")
	other := greets
	other.Question = "Is it short?"
	m := says("yes", "yes")
	if r := p.exec("hello", judged(m, greets, other)); r.Verdict != harness.Pass {
		t.Fatalf("%+v", r.Failures)
	}
	p.saved("cassettes/hello/judge/m-1.yaml", m)
	plain := p.exec("hello", func(*harness.Params) {})
	r := p.exec("hello", replaysJudges(greets, other))
	if r.Verdict != harness.Pass || len(r.Judged) != 2 || r.Hashes.Cassette == plain.Hashes.Cassette {
		t.Errorf("%s %+v %+v", r.Verdict, r.Failures, r.Hashes)
	}
	wants(t, "a question that is gone", p.exec("hello", replaysJudges(greets)), harness.Fail, failure.CassetteUnplayed, failure.PartScenario, "1 recorded answer of a judge was not asked for")
	kind := greets
	kind.Question = "Is it kind?"
	r = p.exec("hello", replaysJudges(greets, kind))
	wants(t, "a question that is new", r, harness.Fail, failure.CassetteMiss, failure.PartModel, "no recorded reply for question to a judge #2")
	if next := r.Failures[0].Next; !strings.HasSuffix(next, ": retake record hello --model m-1 --judges") || len(r.Failures) != 1 {
		t.Errorf("%+v", r.Failures)
	}
	p.write("cassettes/hello/judge/m-1.yaml", "version: 2\ninteractions: [")
	wants(t, "a recording that cannot be read", p.exec("hello", replaysJudges(greets)), harness.Invalid, failure.CassetteInvalid, failure.PartCassette, "m-1.yaml")
}

// A run under faults that ends as without needs no recording of its own; where it
// has one, that alone counts.
func TestJudgesUnderFaults(t *testing.T) {
	p := newProject(t)
	m := says("yes")
	p.exec("hello", judged(m, greets))
	p.saved("cassettes/hello/judge/m-1.yaml", m)
	under := func(hp *harness.Params) {
		replaysJudges(greets)(hp)
		hp.Variant = &scenario.Variant{ID: "v", OnDivergence: scenario.DivergeStop, Expect: scenario.Expect{Judges: []scenario.Judge{greets}}}
	}
	if r := p.exec("hello", under); r.Verdict != harness.Pass || len(r.Judged) != 1 {
		t.Errorf("borrowed: %s %+v", r.Verdict, r.Failures)
	}
	m = says("no")
	p.exec("hello", judged(m, greets))
	p.saved("cassettes/hello/judge/m-1/v.yaml", m)
	wants(t, "its own", p.exec("hello", under), harness.Fail, failure.Expectation, failure.PartModel, `answers "no"`)
	r := p.exec("hello", func(hp *harness.Params) { under(hp); hp.ContractOnly = true })
	if r.Verdict != harness.Pass || len(r.Judged) != 0 {
		t.Errorf("asked where only the contract counts: %s %+v", r.Verdict, r.Failures)
	}
}

// While the run is recorded its judges are not asked, unless somebody brings their
// answers.
func TestJudgesWhileRecording(t *testing.T) {
	p := newProject(t)
	r := p.exec("hello", func(hp *harness.Params) {
		replaysJudges(greets)(hp)
		hp.Recording = true
	})
	if r.Verdict != harness.Pass || len(r.Judged) != 0 {
		t.Errorf("%s %+v", r.Verdict, r.Failures)
	}
	interrupted := &sent{next: fails{failure.Wrap(failure.Interrupted, errors.New("interrupted"))}}
	r = p.exec("hello", func(hp *harness.Params) {
		replaysJudges(greets)(hp)
		hp.Judges["m-j"] = harness.Judge{API: wire.OpenAIChat, Transport: interrupted}
	})
	if r.Verdict != harness.NotRun {
		t.Errorf("%s %+v", r.Verdict, r.Failures)
	}
}

type fails struct{ err error }

func (f fails) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }
