package agent_test

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// A choice that is forced on the model holds until it has made the call, and
// anew for each turn of the user's: one that stays would never come to an end.
func TestForcedChoiceIsRelaxed(t *testing.T) {
	for _, tc := range []struct {
		why    string
		choice wire.ToolChoice
		want   []wire.ChoiceMode
	}{
		{"any", wire.ToolChoice{Mode: wire.ChoiceAny}, []wire.ChoiceMode{wire.ChoiceAny, wire.ChoiceAuto, wire.ChoiceAny, wire.ChoiceAuto}},
		{"one tool", wire.ToolChoice{Mode: wire.ChoiceTool, Name: "look"}, []wire.ChoiceMode{wire.ChoiceTool, wire.ChoiceAuto, wire.ChoiceTool, wire.ChoiceAuto}},
		{"what is free stays free", wire.ToolChoice{Mode: wire.ChoiceAuto}, []wire.ChoiceMode{wire.ChoiceAuto, wire.ChoiceAuto, wire.ChoiceAuto, wire.ChoiceAuto}},
	} {
		r := row{
			why: tc.why, tools: []script.Answer{found, found}, reached: 2,
			turns: []script.Turn{calls(look("a")), done, calls(look("b")), done},
			edit: func(s *scenario.Scenario, _ *harness.Params) {
				s.ToolChoice = tc.choice
				s.Turns = []scenario.Turn{{User: "one"}, {User: "two"}}
			},
		}
		for _, api := range apis {
			got := r.run(t.Context(), api, false, r.turns)
			r.check(t, got)
			var modes []wire.ChoiceMode
			for _, m := range got.Models {
				modes = append(modes, m.Request.ToolChoice.Mode)
			}
			if d := cmp.Diff(tc.want, modes); d != "" {
				t.Errorf("%s, %s: the choices of the requests (-want +got):\n%s", tc.why, api, d)
			}
		}
	}
}

// Somebody stops the run while a tool works: nothing is said of the agent.
func TestInterruptedRun(t *testing.T) {
	for _, api := range apis {
		ctx, cancel := context.WithCancel(t.Context())
		r := row{why: "interrupted", turns: []script.Turn{calls(look("a")), done}, edit: func(_ *scenario.Scenario, p *harness.Params) {
			p.Executors["look"] = tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) {
				cancel()
				return tool.Result{Content: "x"}, nil
			})
		}}
		got := r.run(ctx, api, false, r.turns)
		if got.Verdict != harness.NotRun || len(got.Failures) != 1 || got.Failures[0].Class != failure.Interrupted {
			t.Errorf("%s: want not_run with one failure of class interrupted, got %s %v\n%s", api, got.Verdict, got.Failures, got.Transcript)
		}
	}
}

// A tool that the provider runs is declared as it is, and is nobody's to call.
func TestProviderTool(t *testing.T) {
	for _, tc := range []struct {
		api  wire.API
		decl string
	}{
		{wire.AnthropicMessages, `{"type":"web_search_20250305","name":"search"}`},
		{wire.OpenAIChat, `{"type":"web_search","name":"search"}`},
		{wire.OpenAIResponses, `{"type":"web_search"}`},
		{wire.GeminiGenerate, `{"googleSearch":{}}`},
	} {
		r := row{
			why: string(tc.api), turns: []script.Turn{calls(script.Call{Name: "search", Args: `{}`}), done}, told: "the tools are: look\"",
			edit: func(s *scenario.Scenario, _ *harness.Params) {
				s.Tools = append(s.Tools, tool.Decl{Name: "search", Provider: jsontext.Value(tc.decl)})
			},
		}
		got := r.run(t.Context(), tc.api, false, r.turns)
		r.check(t, got)
		sent := got.Models[0].Request.Tools
		if len(sent) != 2 || string(sent[1].Raw) != tc.decl {
			t.Errorf("%s: want a second tool that is %s, got %+v", tc.api, tc.decl, sent)
		}
	}
}

// What comes before the first turn is where each API has it.
func TestSystemAndOpening(t *testing.T) {
	system := []wire.Role{wire.RoleSystem, wire.RoleSystem}
	said := []wire.Role{wire.RoleUser, wire.RoleAssistant, wire.RoleUser}
	for _, tc := range []struct {
		api   wire.API
		texts int // beside the messages
		roles []wire.Role
	}{
		{wire.AnthropicMessages, 2, said},
		{wire.GeminiGenerate, 2, said},
		{wire.OpenAIChat, 0, append(system, said...)},
		{wire.OpenAIResponses, 0, append(system, said...)},
	} {
		r := row{why: string(tc.api), turns: []script.Turn{done}, edit: func(s *scenario.Scenario, _ *harness.Params) {
			s.System = []string{"Be brief.", "Be kind."}
			s.Opening = []scenario.Message{{Role: wire.RoleUser, Text: "Hello?"}, {Role: wire.RoleAssistant, Text: "Hello!"}}
		}}
		got := r.run(t.Context(), tc.api, false, r.turns)
		r.check(t, got)
		req := got.Models[0].Request
		var roles []wire.Role
		for _, m := range req.Messages {
			roles = append(roles, m.Role)
		}
		if d := cmp.Diff(tc.roles, roles); d != "" || len(req.System) != tc.texts {
			t.Errorf("%s: %d texts beside the messages, want %d; roles (-want +got):\n%s", tc.api, len(req.System), tc.texts, d)
		}
	}
}
