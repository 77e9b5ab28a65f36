package openaichat_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openaichat"
	"github.com/retake-harness/retake/harness/wire/wiretest"
)

func TestConformance(t *testing.T) {
	wiretest.Run(t, openaichat.Codec{}, wiretest.Fixtures{
		Shape: wiretest.Shape{
			Roles:        []wire.Role{wire.RoleSystem, wire.RoleDeveloper},
			CallIDs:      true,
			ResultBlocks: true,
			NoParallel:   true,
			Params: []wire.Field{
				{Name: "max_completion_tokens", Value: jsontext.Value("512")},
				{Name: "stream_options", Value: jsontext.Value(`{"include_usage":true}`)},
			},
			Blocks: []wire.Block{
				{Kind: wire.KindReasoning, Text: "hm", Raw: jsontext.Value(`{"reasoning_content":"hm"}`)},
				{Kind: wire.KindReasoning, Text: "so", Raw: jsontext.Value(`{"reasoning":"so","reasoning_details":[{"type":"reasoning.text","text":"so","index":0,"signature":"c2ln"}]}`)},
				{Kind: wire.KindReasoning, Text: "well", Raw: jsontext.Value(`{"type":"thinking","thinking":[{"type":"text","text":"well"}]}`)},
			},
		},
		Requests:  requests(),
		Same:      same(),
		Different: different(),
		Answers:   append(jsonAnswers(), streamAnswers()...),
	})
}

func requests() []wiretest.Request {
	m := func(messages string) string { return `{"model":"gpt-5","messages":[` + messages + `]}` }
	return []wiretest.Request{
		{Why: "text parts stay apart", Body: m(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}`)},
		{Why: "an image is kept as it is", Body: m(`{"role":"user","content":[{"type":"text","text":"what?"},{"type":"image_url","image_url":{"url":"data:,"}}]}`)},
		{Why: "a name stays with its message", Body: m(`{"role":"user","name":"ann","content":"hi"}`)},
		{Why: "content that is null", Body: m(`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`)},
		{Why: "content that is missing", Body: m(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`)},
		{Why: "arguments that were cut", Body: m(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x"}}]}`)},
		{Why: "no arguments at all", Body: m(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}}]}`)},
		{Why: "arguments that are an object", Body: m(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":{"x":1}}}]}`)},
		{Why: "a custom tool's call", Body: m(`{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"sh","input":"ls -l"}}]}`)},
		{Why: "a thought signature beside the function", Body: m(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"x"}}}]}`)},
		{Why: "the legacy call and its result", Body: m(`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"1"}`)},
		{Why: "refusals of both kinds", Body: m(`{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]},{"role":"assistant","content":null,"refusal":"no"}`)},
		{Why: "reasoning of several servers", Body: m(`{"role":"assistant","content":"x","reasoning_content":"y","reasoning_details":[{"type":"reasoning.encrypted","data":"z"}]}`)},
		{Why: "results with names, parts and odd content", Body: m(`{"role":"tool","tool_call_id":"a","name":"f","content":[{"type":"text","text":"1"}]},{"role":"tool","tool_call_id":"b","content":null}`)},
		{Why: "unknown roles and shapes", Body: m(`{"role":"critic","content":7,"tool_calls":[]},{"content":"x"},{}`)},
		{Why: "members with escapes", Body: m(`{"role":"user","content":"a\/\u00e9\ud83d\ude00\ud800","na\u006de":"n"}`)},
		{Why: "every form of tool choice", Body: `{"model":"m","messages":[],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}}`},
		{Why: "a named choice with more to it", Body: `{"model":"m","messages":[],"tool_choice":{"type":"function","function":{"name":"f"},"x":1}}`},
		{Why: "Mistral's any", Body: `{"model":"m","messages":[],"tool_choice":"any"}`},
		{Why: "tools of several kinds", Body: `{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"f","strict":true,"description":null},"cache_control":{"type":"ephemeral"}},{"type":"custom","custom":{"name":"sh"}},{"type":"web_search"}]}`},
		{Why: "fields that are not what they should be", Body: `{"model":"","messages":"x","tools":{},"max_tokens":0,"stream":null,"parallel_tool_calls":null,"tool_choice":null}`},
		{Why: "the legacy functions", Body: `{"model":"m","messages":[],"functions":[{"name":"f"}],"function_call":"auto"}`},
	}
}

func same() [][]wiretest.Request {
	return [][]wiretest.Request{
		{
			{Body: `{"model":"m","messages":[{"role":"user","content":"hi"}]}`},
			{Why: "a text is one text part", Body: `{"messages":[{"content":[{"text":"hi","type":"text"}],"role":"user"}],"model":"m"}`},
			{Why: "defaults may be spelled out", Body: `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":false,"n":1,"logprobs":false,"stop":null,"tools":[],"tool_choice":"none"}`},
		},
		{
			{Body: `{"model":"m","messages":[{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}],"tools":[{"type":"function","function":{"name":"f"}}]}`},
			{Why: "beside calls, no content is no content", Body: `{"model":"m","messages":[{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}],"tools":[{"type":"function","function":{"name":"f","strict":false}}],"tool_choice":"auto","parallel_tool_calls":true}`},
			{Why: "nor is a missing one", Body: `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}],"tools":[{"type":"function","function":{"name":"f","strict":null,"description":""}}]}`},
		},
	}
}

func different() [][]wiretest.Request {
	q := func(more string) wiretest.Request {
		return wiretest.Request{Why: "each of these changes the answer", Body: `{"model":"m","messages":[{"role":"user","content":"hi"}]` + more + `}`}
	}
	return [][]wiretest.Request{{
		q(``), q(`,"stream":true`), q(`,"n":2`), q(`,"temperature":1`), q(`,"temperature":0`),
		q(`,"max_tokens":5`), q(`,"max_completion_tokens":5`), q(`,"tool_choice":"required"`), q(`,"parallel_tool_calls":false`),
		q(`,"stream":true,"stream_options":{"include_usage":true}`),
		q(`,"tools":[{"type":"function","function":{"name":"f"}}]`),
		q(`,"tools":[{"type":"function","function":{"name":"f","strict":true}}]`),
		q(`,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none"`),
		{Why: "another word", Body: `{"model":"m","messages":[{"role":"user","content":"hi!"}]}`},
		{Why: "another role", Body: `{"model":"m","messages":[{"role":"system","content":"hi"}]}`},
		{Why: "a name", Body: `{"model":"m","messages":[{"role":"user","content":"hi","name":"x"}]}`},
	}}
}
