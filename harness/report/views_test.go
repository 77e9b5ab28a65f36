package report_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/wire"
)

// result is a made-up run of a scenario.
func result(name, model string, edit func(*harness.Result)) *harness.Result {
	tokens := int64(40)
	cost, tools := 0.125, 0.5
	r := &harness.Result{
		Name: name, Model: model, API: wire.AnthropicMessages, Clock: "virtual", Verdict: harness.Pass, TaskID: "t", Transcript: []byte("scenario  x\n"),
		Models: []*journal.ModelAttempt{{
			Ordinal: 1, Latency: time.Second, Response: &wire.Response{Stop: wire.StopDone, Usage: wire.Usage{Input: &tokens, Output: &tokens}},
		}},
		Tokens: wire.Usage{Input: &tokens, Output: &tokens}, Cost: &cost, ToolCost: &tools, Latency: 2 * time.Second,
		Outcome: harness.Outcome{Iterations: 1, Stop: wire.StopDone},
	}
	if edit != nil {
		edit(r)
	}
	return r
}

func failed(what string) func(*harness.Result) {
	return func(r *harness.Result) {
		r.Verdict = harness.Fail
		r.Failures = []harness.Failure{{Class: failure.Expectation, Part: failure.PartAgent, What: what, Where: "scenarios/x.yaml:3:1", Line: 3}}
	}
}

// report.bench is read by the parser that benchstat has, and says all that it
// should.
func TestBench(t *testing.T) {
	folder := write(t, t.TempDir(), []*harness.Result{
		result("travel/case-2", "claude-opus-4-8", nil),
		result("travel/case-2", "gpt 5\nx", func(r *harness.Result) { r.Cost = nil }),
		result("travel/case-2", "m", func(r *harness.Result) { r.Variant, r.Verdict = "model.reset@call=1 tool.slow", harness.Fail }),
		result("never", "m", func(r *harness.Result) { r.Models, r.Verdict = nil, harness.Broken }),
	}, false)
	type line struct{ Name, Model, Values string }
	var got []line
	exact := map[string]bool{}
	in := benchfmt.NewReader(bytes.NewReader(read(t, folder, "report.bench")), "report.bench")
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(rec)
		case *benchfmt.UnitMetadata:
			exact[rec.OrigUnit] = exact[rec.OrigUnit] || rec.Key == "assume" && rec.Value == "exact"
		case *benchfmt.Result:
			var values []string
			for _, v := range rec.Values {
				unit := v.OrigUnit
				if unit == "" {
					unit = v.Unit
				}
				n := v.Value
				if v.OrigUnit != "" {
					n = v.OrigValue
				}
				values = append(values, fmt.Sprintf("%v %s", n, unit))
			}
			got = append(got, line{rec.Name.String(), rec.GetConfig("model"), strings.Join(values, ", ")})
		}
	}
	const rest = "tool-usd/op, 2e+09 ns/op, 1 model-calls/op, 0 tool-calls/op"
	want := []line{
		{"Scenario/travel/case-2-1", "claude-opus-4-8", "1 pass/op, 80 tokens/op, 40 input-tokens/op, 40 output-tokens/op, 0.125 usd/op, 0.5 " + rest},
		{"Scenario/travel/case-2-1", `gpt_5\nx`, "1 pass/op, 80 tokens/op, 40 input-tokens/op, 40 output-tokens/op, 0.5 " + rest},
		{"Scenario/travel/case-2/fault=model.reset@call=1_tool.slow-1", "m", "0 pass/op, 80 tokens/op, 40 input-tokens/op, 40 output-tokens/op, 0.125 usd/op, 0.5 " + rest},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for unit, is := range exact {
		if !is {
			t.Errorf("%s is not exact in a replay", unit)
		}
	}
	if len(exact) != 9 {
		t.Errorf("%d units", len(exact))
	}
	// Figures of a real clock differ from run to run.
	folder = write(t, t.TempDir(), []*harness.Result{result("x", "m", func(r *harness.Result) { r.Clock = "real" })}, false)
	if strings.Contains(string(read(t, folder, "report.bench")), "assume=exact") {
		t.Error("the figures of a real clock are called exact")
	}
}

func TestBenchOfHostileText(t *testing.T) {
	in := benchfmt.NewReader(bytes.NewReader(read(t, write(t, t.TempDir(), everyVerdict(), false), "report.bench")), "x")
	n := 0
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(rec)
		case *benchfmt.Result:
			n++
		}
	}
	if n != 6 {
		t.Errorf("%d lines", n)
	}
}

func TestCSV(t *testing.T) {
	folder := write(t, t.TempDir(), []*harness.Result{
		result("a", "m", nil),
		result("a", "m", func(r *harness.Result) { r.Trial, r.Cost, r.ToolCost = 2, nil, nil }),
		result("b", "m", failed("=HYPERLINK(\"http://x\",\"y\")\n+1")),
		result("=cmd|' /C calc'!A0", "@m", failed("-1\u202e")),
		result("＝x", "\tm", failed(strings.Repeat("x", 1<<20))),
	}, false)
	text := read(t, folder, "report.csv")
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, c := range rows[0] {
		at[c] = i
	}
	var got []string
	for _, row := range rows[1:] {
		got = append(got, strings.Join([]string{row[at["scenario"]], row[at["model"]], row[at["trial"]], row[at["verdict"]], row[at["cost_usd"]], row[at["tool_cost_usd"]], cutTo(row[at["what"]], 32)}, "|"))
	}
	want := []string{
		"a|m|1|pass|0.125|0.5|",
		"a|m|2|pass|||",
		`b|m|1|fail|0.125|0.5|'=HYPERLINK("http://x","y")\n+1`,
		`'=cmd|' /C calc'!A0|'@m|1|fail|0.125|0.5|'-1\u202e`,
		`'＝x|\tm|1|fail|0.125|0.5|` + strings.Repeat("x", 32),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(text) > 20_000 {
		t.Errorf("a line of a megabyte makes a table of %d bytes", len(text))
	}
}

func cutTo(s string, n int) string { return s[:min(n, len(s))] }

// report.md fits into a comment however much there is to say, counts what it
// leaves out, and keeps the verdict first.
func TestMarkdownFits(t *testing.T) {
	var many []*harness.Result
	for i := range 3000 {
		edit := failed(fmt.Sprintf("number %d is wrong", i))
		if i%2 == 0 {
			edit = nil
		}
		many = append(many, result(fmt.Sprintf("folder/%04d", i), fmt.Sprintf("m-%d", i%40), edit))
	}
	for _, tc := range []struct {
		why     string
		results []*harness.Result
		want    []string
	}{
		{"many runs", many, []string{"# retake: 1500 of 3000 passed\n", " runs more did not pass; they are in report.json.\n", " runs more in report.json.\n", "20 models more in report.json.\n"}},
		{"a line of a megabyte", []*harness.Result{result("x", "m", failed(strings.Repeat("a", 1<<20)))}, []string{"# retake: 0 of 1 passed\n", " bytes more)"}},
		{"the same without room to cut", []*harness.Result{result(strings.Repeat("é", 1<<19), strings.Repeat("m", 1<<20), failed(strings.Repeat("é\n", 1<<19)))}, []string{" bytes more)"}},
		{"a thousand reasons", []*harness.Result{result("x", "m", func(r *harness.Result) {
			failed("no")(r)
			for range 999 {
				r.Failures = append(r.Failures, r.Failures[0])
			}
		})}, []string{" reasons more in report.json.\n"}},
	} {
		md := read(t, write(t, t.TempDir(), tc.results, false), "report.md")
		if len(md) >= 60_000 || !utf8.Valid(md) {
			t.Errorf("%s: %d bytes", tc.why, len(md))
		}
		for _, want := range tc.want {
			if !strings.Contains(string(md), want) {
				t.Errorf("%s: no %q in\n%.1500s", tc.why, want, md)
			}
		}
	}
}

// What a stranger's text says is never markup, a mention or a link in report.md.
func TestMarkdownOfHostileText(t *testing.T) {
	for _, text := range []string{
		"<script>alert(1)</script>", "[x](javascript:alert(1))", "![x](https://tracker.example.com/p.png)", "@org/team", "#1", "https://evil.example.com",
		"`` ` ```", "a | b | c", `a\| b`, "\n# heading", "\r\n\r\n<img src=x>", "\x1b[31mred\x1b[0m", "\u202eabc", "&lt;b&gt;", "~~x~~", ":tada:", "```\n<b>",
	} {
		md := string(read(t, write(t, t.TempDir(), []*harness.Result{result(text, text, failed(text))}, false), "report.md"))
		fenced := ""
		for line := range strings.Lines(md) {
			line = strings.TrimRight(line, "\n")
			if fence := strings.TrimSuffix(line, "text"); strings.HasPrefix(line, "```") && (fenced == "" || line == fenced) {
				if fenced == "" {
					fenced = fence
				} else {
					fenced = ""
				}
				continue
			}
			if fenced != "" {
				continue
			}
			outside := outsideOfCode(t, line)
			if strings.ContainsAny(outside, "<@`[&~\\") || strings.Contains(outside, "http") || strings.Contains(outside, ":tada:") || strings.HasPrefix(line, "# heading") {
				t.Errorf("%q: outside of code is %q", text, outside)
			}
			if strings.HasPrefix(line, "| fail") && strings.Count(line, "|") != 10 {
				t.Errorf("%q: the row is %q", text, line)
			}
		}
		if strings.ContainsAny(md, "\x1b\u202e\r") {
			t.Errorf("%q: a control character is in it", text)
		}
	}
}

// outsideOfCode is a line without its spans of code.
func outsideOfCode(t *testing.T, line string) string {
	t.Helper()
	var out strings.Builder
	for i, piece := range strings.Split(line, "`") {
		if i%2 == 0 {
			out.WriteString(piece)
		}
	}
	if strings.Count(line, "`")%2 != 0 {
		t.Errorf("a span of code has no end: %q", line)
	}
	return out.String()
}

// Each trial is a test case of its own.
func TestTrialsInJUnit(t *testing.T) {
	var results []*harness.Result
	for trial := 1; trial <= 3; trial++ {
		results = append(results, result("a", "m", func(r *harness.Result) { r.Trial = trial }))
	}
	junit := string(read(t, write(t, t.TempDir(), results, false), "junit.xml"))
	for _, want := range []string{`name="a, trial 1 [m]"`, `name="a, trial 2 [m]"`, `name="a, trial 3 [m]"`, `tests="3"`} {
		if !strings.Contains(junit, want) {
			t.Errorf("no %s in\n%s", want, junit)
		}
	}
}

// The totals tell of each model by itself, and of all.
func TestTotals(t *testing.T) {
	folder := write(t, t.TempDir(), []*harness.Result{
		result("a", "m-2", nil),
		result("b", "m-2", func(r *harness.Result) {
			failed("no")(r)
			r.Models[0].Latency, r.Models[0].Class = 3*time.Second, failure.Overloaded
		}),
		result("a", "m-1", func(r *harness.Result) { r.Cost, r.ToolCost = nil, nil; r.Models[0].Response.Stop = wire.StopToolCalls }),
	}, false)
	doc, err := report.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	tot := doc.Totals
	if len(tot.Models) != 2 || tot.Models[0].Model != "m-1" || tot.Models[1].Model != "m-2" {
		t.Fatalf("models: %+v", tot.Models)
	}
	one, two := tot.Models[0], tot.Models[1]
	if one.Figures.Cost != nil || one.Figures.ToolCost != nil || one.Unpriced != 1 || one.UnpricedTools != 1 || one.Stops["tool_calls"] != 1 {
		t.Errorf("m-1: %+v", one)
	}
	if *two.Figures.Cost != 0.25 || *two.Figures.ToolCost != 1 || two.Unpriced != 0 || *two.ModelTimes.P50 != 1e6 || *two.ModelTimes.Max != 3e6 || two.ErrorClass["overloaded"] != 1 || two.Verdicts["fail"] != 1 {
		t.Errorf("m-2: %+v", two)
	}
	if *tot.Figures.Cost != 0.25 || tot.Unpriced != 1 || tot.UnpricedTools != 1 || tot.Figures.Tokens.Total != 240 || tot.ModelTimes.N != 3 || tot.Stops["done"] != 2 {
		t.Errorf("all: %+v", tot)
	}
	if got := report.Summary(tot); !strings.Contains(got, "$0.2500 (1 without a price) and $1.0000 for tools (1 without a price)") {
		t.Error(got)
	}
}
