package scenario_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/transcript"
	"github.com/retake-harness/retake/harness/wire"
)

const samples = "testdata/scenarios"

var sameRegexp = cmp.Comparer(func(a, b *regexp.Regexp) bool {
	return a == b || a != nil && b != nil && a.String() == b.String()
})

func TestLoadEveryField(t *testing.T) {
	s, err := scenario.Load(samples, "orders/everything", scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	order := jsontext.Value(`{"type":"object","properties":{"sku":{"type":"string"},"amount":{"type":"number"},"idempotency_key":{"type":"string"}},"required":["sku"]}`)
	want := &scenario.Scenario{
		Name: "orders/everything", File: "testdata/scenarios/orders/everything.yaml", Hash: s.Hash,
		Why: "Every field of the format is read.", Owner: "shop-team", Labels: []string{"full", "orders.v2"},
		Rollback: "Revert the prompt.", Inputs: map[string]string{"shop": "Hill & Sons", "year": "2026"},
		System: []string{"You sell for Hill & Sons.", "A literal ${shop} stays."},
		Opening: []scenario.Message{
			{Role: wire.RoleDeveloper, Text: "Be brief, it is 2026."},
			{Role: wire.RoleUser, Text: "Hello."},
			{Role: wire.RoleAssistant, Text: "Hello!"},
			{Role: wire.RoleSystem, Text: "The shop is open."},
		},
		Turns:  []scenario.Turn{{User: "Order A-17, in 2026."}, {User: "Yes."}},
		Models: []string{"claude-opus-4-8", "gpt-5.5-mini"},
		API:    wire.OpenAIChat, Stream: true, MaxTokens: 512,
		Params: []wire.Field{
			{Name: "metadata", Value: jsontext.Value(`{"user_id":"0012-a","since":"2026-07-14","flags":[true,null,"007"]}`)},
			{Name: "top_p", Value: jsontext.Value(`0.90`)},
		},
		Tools: []tool.Decl{
			{
				Name: "create_order", Description: "Creates an order. Only after the user has confirmed.",
				Input: order, Output: jsontext.Value(`{"type":"object","properties":{"id":{"type":"string"}}}`),
				Effect: tool.EffectWrite, Key: &tool.Key{Field: "idempotency_key", From: tool.KeyFromHost},
				Timeout: 10 * time.Second, Retry: tool.Retry{Attempts: 3, Backoff: 500 * time.Millisecond}, MaxResult: 65536,
				Approval: true, Extra: jsontext.Value(`{"strict":true}`),
			},
			{Name: "cancel_order", Input: order},
			{Name: "web_search", Provider: jsontext.Value(`{"type":"web_search","filters":{"allowed_domains":["example.com"]}}`)},
		},
		ToolChoice: wire.ToolChoice{Mode: wire.ChoiceTool, Name: "create_order", NoParallel: true},
		Guard:      []scenario.Block{{Tool: "cancel_order", Reason: "orders are cancelled by a person"}},
		Limits:     scenario.Limits{Iterations: 4, Tokens: 1000, ToolCalls: 3, Time: 2 * time.Minute, Parallel: 2},
		GiveUp:     scenario.GiveUp{RepeatedCalls: 2, Pauses: 1, ToolErrors: 4},
		OnPartial:  scenario.PartialStop,
		Seed:       1,
		Replay:     scenario.Replay{Match: scenario.MatchStrict, Ignore: []string{"/metadata/user_id", "/messages/*/content/*/cache_control"}},
		Expect: scenario.Expect{
			Outcome: "partial_failure", Stop: wire.StopToolCalls, StopRaw: "tool_use",
			Iterations: &scenario.Range{Min: 2, Max: 4}, ToolCalls: &scenario.Range{Min: 1, Max: math.MaxInt},
			Calls: &transcript.Match{Mode: transcript.Superset, Calls: []transcript.ExpectedCall{
				{Tool: "create_order", Mode: transcript.ArgsSuperset, Args: []transcript.ExpectedArg{
					{Name: "sku", Regexp: regexp.MustCompile("^A-")},
					{Name: "note", Contains: new("rain")},
					{Name: "amount", Number: new(12.5), Tolerance: 0.1},
					{Name: "day", Date: new("2026-07-14")},
					{Name: "raw", Value: jsontext.Value(`{"contains":"literal"}`)},
					{Name: "plain", Value: jsontext.Value(`{"any":12.50}`)},
					{Name: "code", Value: jsontext.Value(`"017"`)},
				}},
				{Tool: "refund_order"},
			}},
			Answer:  scenario.Answer{Equals: new("42"), Contains: []string{"done"}, Regexp: regexp.MustCompile("o+"), Schema: jsontext.Value(`{"type":"object"}`)},
			Effects: map[string]int{"create_order": 1},
			Tokens:  new(int64(5000)), Cost: new(0.05), Latency: new(20 * time.Second),
		},
	}
	if diff := cmp.Diff(want, s, sameRegexp, cmpopts.IgnoreUnexported(scenario.Scenario{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDefaults(t *testing.T) {
	s := load(t, minimal, scenario.Options{Models: []string{"m"}})
	want := &scenario.Scenario{
		Name: "s", File: s.File, Hash: s.Hash, Why: "w", Owner: "o",
		Turns: []scenario.Turn{{User: "t"}}, Models: []string{"m"},
		Limits: scenario.Limits{Iterations: 10, Parallel: 8}, GiveUp: scenario.GiveUp{RepeatedCalls: 3, Pauses: 5},
		OnPartial: scenario.PartialReport, Replay: scenario.Replay{Match: scenario.MatchNormalised},
		Expect: scenario.Expect{Outcome: "completed", Golden: true},
		Seed:   1,
	}
	if diff := cmp.Diff(want, s, cmpopts.IgnoreUnexported(scenario.Scenario{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLimitsAreTakenFromTheFirstThatSaysThem(t *testing.T) {
	s := load(t, minimal+"limits: {iterations: 2}\n", scenario.Options{
		Models: []string{"m"},
		Limits: scenario.Limits{Iterations: 7, Tokens: 900},
	})
	if want := (scenario.Limits{Iterations: 2, Tokens: 900, Parallel: 8}); s.Limits != want {
		t.Errorf("got %+v, want %+v", s.Limits, want)
	}
}

func TestSharedTools(t *testing.T) {
	for _, tc := range []struct {
		why, tools string
		want       []string
	}{
		{"without the field all of the shared file", "", []string{"get_calendar_event", "get_weather", "get_travel_time"}},
		{"by name, in the scenario's order", "tools: [get_travel_time, get_weather]\n", []string{"get_travel_time", "get_weather"}},
		{"names and a declaration", "tools: [get_weather, {name: book}]\n", []string{"get_weather", "book"}},
		{"a declaration goes before a shared one of its name", "tools: [{name: get_weather}]\n", []string{"get_weather"}},
		{"an empty list is none", "tools: []\n", nil},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "s.yaml"), minimal+"model: m\n"+tc.tools)
		shared, err := os.ReadFile(samples + "/travel/tools.yaml")
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "tools.yaml"), string(shared))
		s, err := scenario.Load(dir, "s", scenario.Options{})
		if err != nil {
			t.Fatalf("%s: %v", tc.why, err)
		}
		var got []string
		for _, d := range s.Tools {
			got = append(got, d.Name)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

func TestPlace(t *testing.T) {
	s, err := scenario.Load(samples, "travel/umbrella", scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ why, part, want string }{
		{"a field", "expect.iterations", ":13:3"},
		{"an element", "expect.calls[1]", ":16:7"},
		{"a field of an element", "expect.calls[1].args.city", ":17:14"},
		{"what is not said is where it would be", "expect.latency", ":11:1"},
		{"nothing of it", "nothing", ":1:1"},
	} {
		if got := s.Place(tc.part).String(); got != s.File+tc.want {
			t.Errorf("%s: Place(%q) = %s, want %s", tc.why, tc.part, got, tc.want)
		}
	}
}

func TestHash(t *testing.T) {
	hash := func(text, tools string) string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "s.yaml"), text)
		write(t, filepath.Join(dir, "tools.yaml"), tools)
		s, err := scenario.Load(dir, "s", scenario.Options{Models: []string{"m"}})
		if err != nil {
			t.Fatal(err)
		}
		return s.Hash
	}
	const a, b = "tools: [{name: a}]\n", "tools: [{name: b}]\n"
	first := hash(minimal, a)
	switch {
	case len(first) != 64:
		t.Errorf("hash %q is not 64 hex digits", first)
	case hash(minimal, a) != first:
		t.Error("the same files give another hash")
	case hash(strings.ReplaceAll(minimal, "\n", "\r\n"), a) != first:
		t.Error("CRLF gives another hash")
	case hash(minimal, b) == first:
		t.Error("another tools.yaml gives the same hash")
	case hash(minimal+"stream: true\n", a) == first:
		t.Error("another scenario gives the same hash")
	case hash(minimal+"tools: []\n", a) != hash(minimal+"tools: []\n", b):
		t.Error("a tools.yaml that is not drawn on changes the hash")
	}
}

func TestList(t *testing.T) {
	got, err := scenario.List(samples)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"orders/everything", "travel/umbrella"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestListRefusesAnotherEnding(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yml"), minimal)
	_, err := scenario.List(dir)
	if failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), "a.yml: scenarios end in .yaml") {
		t.Errorf("got %v", err)
	}
	if _, err := scenario.List(filepath.Join(dir, "none")); failure.Of(err) != failure.World {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestNames(t *testing.T) {
	for _, tc := range []struct{ why, name, want string }{
		{"a slip in the name", "travel/umbrela", `there is no such scenario (did you mean "travel/umbrella"?)`},
		{"out of the folder", "../secret", `is no scenario's name`},
		{"with its ending", "travel/umbrella.yaml", `without .yaml`},
		{"an absolute path", "/etc/passwd", `is no scenario's name`},
	} {
		_, err := scenario.Load(samples, tc.name, scenario.Options{})
		if failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.why, err, tc.want)
		}
	}
}

func TestCacheIsShared(t *testing.T) {
	var cache scenario.Cache
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, name := range []string{"travel/umbrella", "orders/everything"} {
				if _, err := scenario.Load(samples, name, scenario.Options{Cache: &cache}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkLoad(b *testing.B) {
	o := scenario.Options{Cache: &scenario.Cache{}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := scenario.Load(samples, "travel/umbrella", o); err != nil {
			b.Fatal(err)
		}
	}
}

const minimal = "why: w\nowner: o\ntask: t\n"

func load(t *testing.T, text string, o scenario.Options) *scenario.Scenario {
	t.Helper()
	s, err := loadText(t, text, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func loadText(t *testing.T, text string, o scenario.Options) (*scenario.Scenario, error) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "s.yaml"), text)
	return scenario.Load(dir, "s", o)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "s.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := scenario.Load(dir, "s", scenario.Options{})
	if failure.Of(err) != failure.World || strings.Count(err.Error(), "s.yaml") != 1 {
		t.Errorf("got %v, want class world and the path once", err)
	}
}

// A scenario that passes whatever the agent says is allowed, and told.
func TestAScenarioThatChecksOnlyTheContractIsDoubtful(t *testing.T) {
	const base = "why: w\nowner: o\ntask: t\nmodel: m\n"
	for _, tc := range []struct {
		why, text string
		doubtful  bool
	}{
		{"a golden by default", base, false},
		{"nothing at all", base + "expect: {golden: false}\n", true},
		{"the outcome alone", base + "expect: {golden: false, outcome: completed}\n", true},
		{"an answer", base + "expect: {golden: false, answer: {contains: [a]}}\n", false},
		{"no calls", base + "expect: {golden: false, calls: []}\n", false},
		{"a budget", base + "expect: {golden: false, tokens: {max: 9}}\n", false},
		{"the stop", base + "expect: {golden: false, stop: done}\n", false},
	} {
		s, err := scenario.Parse("s.yaml", []byte(tc.text), scenario.Options{})
		if err != nil {
			t.Fatalf("%s: %v", tc.why, err)
		}
		if got := strings.Contains(strings.Join(s.Warnings, "\n"), "s.yaml:1:1: without the golden transcript"); got != tc.doubtful {
			t.Errorf("%s: %q", tc.why, s.Warnings)
		}
	}
}
