package harness_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// What a person decides, by the script, is whether and with what a tool is called.
func TestApprovals(t *testing.T) {
	const (
		a  = `{"id":"a"}`
		b  = `{"id":"b"}`
		no = "a person has to approve this call, and has not"
	)
	for _, tc := range []struct {
		why, approvals string
		calls          []string
		ran            []string // arguments
		told           []string // "" is the tool's own answer
		ask            bool     // somebody is there, who says yes
	}{
		{"no script, and nobody there", "", []string{a}, nil, []string{no}, false},
		{"no script, and a person there", "", []string{a}, []string{a}, []string{""}, true},
		{"approved, each time", "{tool: commit, decision: approve}", []string{a, b}, []string{a, b}, []string{"", ""}, false},
		{"refused", "{tool: commit, decision: deny}", []string{a}, nil, []string{"a person has refused this call"}, false},
		{"the script goes before who is there", "{tool: commit, decision: deny}", []string{a}, nil, []string{"a person has refused this call"}, true},
		{"changed", "{tool: commit, decision: edit, args: {id: c}}", []string{a}, []string{`{"id":"c"}`}, []string{""}, false},
		{"nobody answers, ever", "{tool: commit, decision: never}", []string{a, a}, nil, []string{no, no}, false},
		{"late: it holds for the same call, and for no other", "{tool: commit, decision: late}", []string{a, b, `{ "id": "a" }`}, []string{`{ "id": "a" }`}, []string{"nobody has answered in time", "nobody has answered in time", ""}, false},
		{"one call by its number, and each other", "{tool: commit, call: 2, decision: approve}, {tool: commit, decision: deny}", []string{a, b, a}, []string{b}, []string{"a person has refused", "", "a person has refused"}, false},
		{"one call alone", "{tool: commit, call: 1, decision: approve}", []string{a, a}, []string{a}, []string{"", no}, false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s, err := scenario.Parse("s.yaml", []byte("why: w\nowner: o\ntask: t\nmodel: m\ntools: [{name: commit, approval: true, key: {field: key, from: host}}]\nexpect: {golden: false}\napprovals: ["+tc.approvals+"]\n"), scenario.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var ran, told []string
			p := harness.Params{
				Scenario: s, Model: "m", API: wire.AnthropicMessages, Transport: http.NewFileTransport(nil),
				Executors: map[string]tool.Executor{"commit": tool.ExecutorFunc(func(_ context.Context, c tool.Call) (tool.Result, error) {
					ran = append(ran, string(c.Args))
					return tool.Result{Content: "done"}, nil
				})},
				Agent: harness.Func(func(ctx context.Context, env *harness.Env) (string, error) {
					for i, args := range tc.calls {
						ans, err := env.Tools.Call(ctx, "commit", strconv.Itoa(i), args)
						if err != nil {
							return "", err
						}
						told = append(told, ans.Text)
					}
					return "", nil
				}),
			}
			if tc.ask {
				p.Approve = func(context.Context, tool.Call) (bool, error) { return true, nil }
			}
			r := harness.Exec(t.Context(), p)
			var withoutKey []string
			for _, args := range ran {
				_, rest, _ := strings.Cut(args, ",")
				withoutKey = append(withoutKey, "{"+rest)
			}
			var want []string
			for _, args := range tc.ran {
				want = append(want, strings.ReplaceAll(args, " ", ""))
			}
			if diff := cmp.Diff(want, withoutKey); diff != "" {
				t.Errorf("what the tool got (-want +got):\n%s", diff)
			}
			for i, want := range tc.told {
				if want == "" && told[i] != "done" || want != "" && (!strings.Contains(told[i], want) || !strings.Contains(told[i], tool.CodeNotApproved)) {
					t.Errorf("call %d was told %q, want %q", i+1, told[i], want)
				}
			}
			if r.Effects["commit"] != len(tc.ran) {
				t.Errorf("%d effects; a call that nobody approved has none", r.Effects["commit"])
			}
			if edited := strings.Contains(tc.approvals, "edit"); edited != (len(r.Warnings) > 0 && strings.Contains(strings.Join(r.Warnings, "\n"), `changed the arguments to {"id":"c"}`)) {
				t.Errorf("warnings: %q", r.Warnings)
			}
		})
	}
}

// An edit that the tool could not take is a fault of the script.
func TestEditThatDoesNotFit(t *testing.T) {
	s, err := scenario.Parse("s.yaml", []byte(`why: w
owner: o
task: t
model: m
tools: [{name: commit, approval: true, input: {type: object, properties: {id: {type: string}}, required: [id]}}]
expect: {golden: false}
approvals: [{tool: commit, decision: edit, args: {id: 1}}]
`), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := harness.Exec(t.Context(), harness.Params{
		Scenario: s, Model: "m", API: wire.AnthropicMessages, Transport: http.NewFileTransport(nil),
		Executors: map[string]tool.Executor{"commit": tool.Func(func(context.Context, []byte) (string, error) { t.Error("it ran"); return "", nil })},
		Agent: harness.Func(func(ctx context.Context, env *harness.Env) (string, error) {
			_, err := env.Tools.Call(ctx, "commit", "1", `{"id":"a"}`)
			return "", err
		}),
	})
	if r.Verdict != harness.Invalid || r.Failures[0].Class != failure.ScenarioInvalid || !strings.Contains(r.Failures[0].What, "do not fit its schema: /id:") {
		t.Errorf("%s %+v", r.Verdict, r.Failures)
	}
}

// What is decided about a call that nobody makes decides nothing, and is told.
func TestADecisionThatNobodyAsksFor(t *testing.T) {
	for _, tc := range []struct {
		why       string
		approvals []scenario.Approval
		want      string // "" passes
	}{
		{"asked for", []scenario.Approval{{Tool: "pay", Call: 1, Decision: scenario.DecideApprove}}, ""},
		{"one entry for each call", []scenario.Approval{{Tool: "pay", Decision: scenario.DecideApprove}}, ""},
		{"the call itself goes before each", []scenario.Approval{{Tool: "pay", Decision: scenario.DecideDeny}, {Tool: "pay", Call: 1, Decision: scenario.DecideApprove}}, ""},
		{"another tool", []scenario.Approval{{Tool: "pay", Decision: scenario.DecideApprove}, {Tool: "mail", Decision: scenario.DecideApprove}}, "nobody asked for the decision approve about a call of mail"},
		{"a fifth call that is not made", []scenario.Approval{{Tool: "pay", Call: 1, Decision: scenario.DecideApprove}, {Tool: "pay", Call: 5, Decision: scenario.DecideDeny}}, "nobody asked for the decision deny about call 5 of pay"},
	} {
		shop := &till{}
		r := harness.Exec(t.Context(), harness.Params{
			Scenario: &scenario.Scenario{
				Name: "till", Turns: []scenario.Turn{{User: "Pay."}}, Tools: []tool.Decl{{Name: "pay", Approval: true}}, Approvals: tc.approvals,
				Expect: scenario.Expect{Breaches: []string{"W4"}},
			},
			Model: "m", API: wire.AnthropicMessages, Transport: http.NewFileTransport(http.Dir(t.TempDir())), RunID: "r",
			Executors: map[string]tool.Executor{"pay": shop}, Agent: harness.Func(pay),
		})
		said := ""
		for _, f := range r.Failures {
			said += f.What
		}
		if said != tc.want || shop.taken != 1 {
			t.Errorf("%s: %q, %d taken, want %q", tc.why, said, shop.taken, tc.want)
		}
	}
}
