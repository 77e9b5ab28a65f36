package view_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/internal/view"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/sweep"
	"github.com/retake-harness/retake/harness/transcript"
)

// put writes a report as a run leaves it: report.json, and one file of transcripts.
// texts are those of the entries, in their order; fewer: the others have none.
func put(tb testing.TB, dir, id string, entries []report.Entry, texts ...string) string {
	tb.Helper()
	folder := filepath.Join(dir, id)
	if err := os.MkdirAll(filepath.Join(folder, "transcripts"), 0o755); err != nil {
		tb.Fatal(err)
	}
	doc := report.Document{Schema: report.Schema, Scenarios: entries, Totals: report.Totals{Scenarios: len(entries), Verdicts: map[string]int{}, ErrorClass: map[string]int{}, Responsible: map[string]int{}}}
	doc.Run = report.Run{Tool: "retake (test)", Volatile: report.Volatile{ID: id, Started: "2026-11-0" + id[len(id)-1:] + "T08:00:00Z", Ended: "2026-11-01T08:00:01Z", Parallel: 2}}
	var all strings.Builder
	for i := range entries {
		e := &entries[i]
		doc.Totals.Verdicts[e.Verdict]++
		doc.Totals.Figures.Tokens.Total += e.Figures.Tokens.Total
		stamp := report.Stamp{TaskID: fmt.Sprintf("task-%s-%d", id, i+1)}
		for n := range len(e.Models) + len(e.Tools) {
			stamp.AttemptIDs = append(stamp.AttemptIDs, fmt.Sprintf("%s-a%d", stamp.TaskID, n+1))
		}
		doc.Run.Volatile.Entries = append(doc.Run.Volatile.Entries, stamp)
		if i < len(texts) {
			e.Transcript = &report.Place{File: "transcripts/all.txt", Line: strings.Count(all.String(), "\n") + 1, At: int64(all.Len())}
			heading := transcript.Safe(report.Title(e.Name, e.Fault) + " [" + e.Model + "]")
			if e.Trial > 0 {
				heading += fmt.Sprintf(", trial %d", e.Trial)
			}
			fmt.Fprintf(&all, "=== %s\n%s\n", heading, texts[i])
		}
	}
	write(tb, filepath.Join(folder, "transcripts", "all.txt"), []byte(all.String()))
	write(tb, filepath.Join(folder, "report.json"), encoded(tb, doc))
	return folder
}

func encoded(tb testing.TB, v any) []byte {
	tb.Helper()
	text, err := json.Marshal(v, json.FormatNilSliceAsNull(false), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func write(tb testing.TB, path string, text []byte) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// entry is a run of a scenario with two model calls and one of a tool.
func entry(name, model, verdict string) report.Entry {
	tokens := func(in, out int64) *report.Tokens {
		return &report.Tokens{Input: &in, Output: &out, Total: in + out}
	}
	dollars, one, two, tool := 0.0125, 0.008, 0.0045, 0.002
	e := report.Entry{
		Name: name, Model: model, API: "anthropic-messages", File: "scenarios/" + name + ".yaml", Verdict: verdict, Owner: "travel-team", Why: "rain is told, and told once",
		Rollback: "git revert the change of the prompt", Labels: []string{"smoke", "travel"}, Clock: "virtual", Outcome: report.Outcome{Class: "completed", Stop: "done", Answer: "Yes."},
		Figures: report.Figures{Iterations: 2, ModelAttempts: 2, ToolCalls: 1, ToolAttempts: 2, Tokens: *tokens(950, 89), Cost: &dollars, Latency: 4_200_000},
		Models: []report.Model{
			{Ordinal: 1, AttemptID: 1, Attempt: 1, Latency: 1_500_000, Status: 200, Model: model, Stop: "tool_calls", Stream: true, Calls: []string{"get_weather"}, Tokens: tokens(421, 69), Cost: &one},
			{Ordinal: 2, AttemptID: 2, Attempt: 1, At: 3_000_000, Latency: 1_200_000, Status: 200, Model: model, Stop: "done", Stream: true, Tokens: tokens(529, 20), Cost: &two},
		},
		Tools: []report.Tool{{
			Ordinal: 1, Tool: "get_weather", ArgsHash: strings.Repeat("0a", 32), At: 1_500_000, Latency: 1_500_000, Outcome: "ok", Write: true, Cost: &tool,
			Attempts: []report.ToolAttempt{{AttemptID: 3, Attempt: 1, Latency: 1_000_000, Outcome: "error", Class: "tool_unavailable", Code: "503"}, {AttemptID: 3, Attempt: 2, Latency: 500_000, Outcome: "ok"}},
		}},
		Contract: []report.Rule{{Rule: "W1", State: "held"}, {Rule: "W2", State: "breached", Breaches: []string{"a call has no result"}}, {Rule: "W6", State: "not applicable"}},
		Effects:  []report.Effect{{Tool: "get_weather", Count: 1}},
		Hashes:   report.Hashes{Scenario: strings.Repeat("11", 32), Prompt: strings.Repeat("22", 32), Tools: strings.Repeat("33", 32), Cassette: strings.Repeat("44", 32)},
	}
	if verdict != "pass" {
		e.Part = "agent"
		e.Reasons = []report.Reason{{Class: "expectation", Layer: "business", Part: "agent", What: "the answer does not name the day", Where: e.File + ":12:5", Line: 12, Diff: "- a\n+ b", Why: "who asks for a day wants it", Next: "mend the agent"}}
	}
	return e
}

func talk(name, model, answer string) string {
	return "scenario  " + name + "\nmodel     " + model + `
system    Look things up before you answer; never guess.
user      Will it rain in London?
          I mean tomorrow.
call      call-1 get_weather {"city":"London, UK","days":[1,2],"exact":12.50}
stop      tool_calls (tool_use)
fault     tool.unavailable call 1 attempt 1
attempt   call-1 attempt-1 error tool_unavailable
result    call-1 {"condition":"rain","ok":true}
assistant ` + answer + `
stop      done (end_turn)
outcome   completed
`
}

// site is a folder with three runs, a sweep and a drill.
func site(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	for _, id := range []string{"20261101-080000-00000001", "20261102-080000-00000002", "baseline-3"} {
		var entries []report.Entry
		var texts []string
		for _, name := range []string{"checkout/gift", "travel/umbrella", "travel/timeout"} {
			for _, model := range []string{"claude-opus-4-8", "gpt-5.5-mini"} {
				verdict := "pass"
				if id == "20261102-080000-00000002" && name == "travel/timeout" {
					verdict = map[string]string{"claude-opus-4-8": "fail", "gpt-5.5-mini": "broken"}[model]
				}
				entries = append(entries, entry(name, model, verdict))
				texts = append(texts, talk(name, model, "Yes, by "+verdict+"."))
			}
		}
		entries[1].Fault, entries[1].Verdict = "tool.slow", "diverged"
		put(tb, dir, id, entries, texts...)
	}
	write(tb, filepath.Join(dir, "sweep", "travel", "umbrella", "m.json"), encoded(tb, sweep.Report{
		Schema: sweep.Schema, Scenario: "travel/umbrella", Model: "claude-opus-4-8", Clock: "virtual", Columns: []sweep.Column{{Name: "m1", Of: "the first model call"}, {Name: "t1", Of: "the first tool call"}},
		Rows: []sweep.Row{
			{Fault: "model.reset", Cells: []sweep.Cell{{State: sweep.Held, Runs: []sweep.Outcome{{Spec: "model.reset@call=1", State: sweep.Held}}}, {}}},
			{Fault: "tool.lost_ack", Cells: []sweep.Cell{{}, {State: sweep.Breached, Runs: []sweep.Outcome{{
				Spec: "tool.lost_ack@call=1", State: sweep.Breached, Class: "contract", Breaches: []sweep.Breach{{Rule: "W15", Part: "agent", What: "the order was made twice"}}, Command: "retake run travel/umbrella --fault tool.lost_ack@call=1",
			}}}}},
		},
		Totals: sweep.Totals{Runs: 2, Held: 1, Breached: 1},
	}))
	one, two := 1, 2
	write(tb, filepath.Join(dir, "drill", "shop", "order.json"), encoded(tb, drill.Report{
		Schema: drill.Schema, Drill: "shop/order", Tool: "create_order",
		Rows: []drill.Row{
			{ID: "I1", Title: "the same call twice has one effect", Why: "models repeat themselves", State: drill.Held},
			{ID: "I2", Form: "race", Title: "two at once have one effect", Why: "platforms deliver twice", State: drill.Breached, What: "two orders", Do: "keep the key in a unique column", Steps: []drill.Step{{Do: `create_order {"sku":"A"}`, Answer: "ok", Before: &one, After: &two}}},
		},
		Totals: drill.Totals{Held: 1, Breached: 1},
	}))
	return dir
}

func built(tb testing.TB, paths ...string) *view.Page {
	tb.Helper()
	found, err := view.Find(paths, 20)
	if err != nil {
		tb.Fatal(err)
	}
	page, err := view.Build(tb.Context(), found)
	if err != nil {
		tb.Fatal(err)
	}
	return page
}
