package agent_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/corpus"
	"github.com/retake-harness/retake/harness/internal/inspect"
	"github.com/retake-harness/retake/harness/internal/start"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/wire"
)

// ignored are the rules without which a recording cannot be led again, because
// its agent changes what it has sent before.
var ignored = []struct {
	why, recording string
	rules          []string
}{
	{
		"a result has an id of the agent's own where the API wants the function's name",
		"TestExec_Gemini_ToolCall.yaml",
		[]string{"/contents/*/parts/*/functionResponse/name"},
	},
	{
		"the agent sends the model's reasoning back without its first word",
		"TestOpenRouterCommon/kimi/multi_tool_streaming.yaml",
		[]string{"/messages/*/reasoning", "/messages/*/reasoning_details"},
	},
}

// apart are the recordings that a loop which changes nothing cannot lead, each
// with the failure that it ends in.
var apart = []struct {
	why, recording string
	class          failure.Class
}{
	{
		"a tool's error is told as a bare text, ours as {\"ok\":false,\"error\":{…}}",
		"tool_runner_tool_call_error.yaml", failure.CassetteMiss,
	},
	{
		"the caller takes the tools away before the second request",
		"tool_runner_custom_handling.yaml", failure.CassetteMiss,
	},
	{
		"the agent sends the model's text back without all but its first blank",
		"TestOpenAICompatibleCommon/avian-kimi/multi_tool_streaming.yaml", failure.CassetteMiss,
	},
	{
		"the agent leaves out the reasoning item, although the server keeps it",
		"TestExec_ToolCallsNeedAcceptance.yaml", failure.CassetteMiss,
	},
}

// qualifies tells a go-vcr recording of the four APIs in which a tool is called
// and its result sent on.
func qualifies(f *corpus.File) bool {
	return f.GoVCR() && len(f.ToolCalls) > 0 && slices.ContainsFunc(f.Calls, func(c corpus.Call) bool { return c.Results > 0 })
}

// The main job on real input: recordings of other people's agents, each led
// again by the reference loop from a scenario file that says nothing but its first
// request and its user's later turns, and from the results of its tools. Every request is found by its meaning, every recording is used,
// the contract holds, and what was said is what was recorded.
func TestRecordedConversations(t *testing.T) {
	all := corpus.Open(t, os.Getenv)
	noStaleRows(t, all)
	var led tally
	for _, f := range all.Files {
		if !qualifies(&f) {
			continue
		}
		file, err := cassette.Open(all.Join(&f))
		if err != nil {
			t.Fatal(err)
		}
		convs, err := start.Conversations(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range convs {
			c := conversation{convs[i]}
			name := strings.TrimSuffix(strings.TrimPrefix(f.Path, "files/"), ".yaml")
			if !c.Whole {
				name += fmt.Sprintf("/conversation-%d", i+1)
			}
			t.Run(name, func(t *testing.T) {
				if leadAgain(t, &f, c, name) {
					led.add(&f, c)
				}
			})
		}
	}
	led.check(t)
}

// noStaleRows: a recording that is named above is one of those that are led
// again.
func noStaleRows(t *testing.T, all *corpus.Corpus) {
	t.Helper()
	var names []string
	for _, row := range ignored {
		names = append(names, row.recording)
	}
	for _, row := range apart {
		names = append(names, row.recording)
	}
	for _, name := range names {
		if !slices.ContainsFunc(all.Files, func(f corpus.File) bool { return f.Is(name) && qualifies(&f) }) {
			t.Errorf("%s has a row, and no such recording is led again: drop it", name)
		}
	}
}

// leadAgain tells whether the recording was one to be led again.
func leadAgain(t *testing.T, f *corpus.File, c conversation, name string) bool {
	t.Helper()
	var rules []string
	for _, row := range ignored {
		if f.Is(row.recording) {
			rules = row.rules
		}
	}
	r := c.lead(t, c.scenario(t, name, rules))
	for _, row := range apart {
		if f.Is(row.recording) {
			if len(r.Failures) != 1 || r.Failures[0].Class != row.class {
				t.Errorf("%s: want one failure of class %s, got %s\n%s", row.why, row.class, r.Verdict, report.Explain(r, 2))
			}
			return false
		}
	}
	if r.Verdict != harness.Pass {
		t.Fatalf("%s\n%s\n%s", r.Verdict, report.Explain(r, 2), r.Transcript)
	}
	if d := cmp.Diff(string(inspect.Read(c.Cassette()).Transcript), said(t, r.Transcript)); d != "" {
		t.Errorf("the transcript is not the recorded conversation (-recorded +run):\n%s", d)
	}
	againstOracle(t, f, c, r)
	return true
}

// againstOracle holds a run's tool calls and the length of its answer against
// figures that are not ours.
func againstOracle(t *testing.T, f *corpus.File, c conversation, r *harness.Result) {
	t.Helper()
	var want, got []string
	for _, i := range c.Interactions {
		for _, call := range f.Calls[i].Tools {
			want = append(want, call.Name+" "+canonical(t, call.Args))
		}
	}
	for _, call := range r.Calls {
		got = append(got, call.Tool+" "+canonical(t, string(call.Args)))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the tool calls are not the oracle's (-oracle +run):\n%s", d)
	}
	last := f.Calls[c.Interactions[len(c.Interactions)-1]]
	if n := utf8.RuneCountInString(r.Outcome.Answer); n != last.TextChars {
		t.Errorf("the answer has %d characters, by the oracle %d: %q", n, last.TextChars, r.Outcome.Answer)
	}
}

func canonical(t *testing.T, text string) string {
	t.Helper()
	b, err := jsondoc.Canonical(nil, []byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return string(b)
}

// tally counts what was led again.
type tally struct {
	recordings, apis, agents []string
	turns                    int // the most of the user's in one conversation
}

func (n *tally) add(f *corpus.File, c conversation) {
	note := func(to *[]string, s string) {
		if !slices.Contains(*to, s) {
			*to = append(*to, s)
		}
	}
	note(&n.recordings, f.Path)
	note(&n.apis, string(c.API))
	owner, _, _ := strings.Cut(strings.TrimPrefix(f.Path, "files/"), "/")
	note(&n.agents, owner)
	turns := 0
	for _, m := range c.Requests[len(c.Requests)-1].Messages {
		if m.Role == wire.RoleUser && !slices.ContainsFunc(m.Blocks, func(b wire.Block) bool { return b.Kind == wire.KindToolResult }) {
			turns++
		}
	}
	n.turns = max(n.turns, turns)
}

func (n *tally) check(t *testing.T) {
	t.Helper()
	t.Logf("%d recordings, APIs %q, agents and SDKs %q", len(n.recordings), n.apis, n.agents)
	if len(n.recordings) < 10 || len(n.apis) < 4 || len(n.agents) < 3 || n.turns < 2 {
		t.Error("want ten recordings of four APIs and three vendors' agents or SDKs, one of them with several user turns")
	}
}
