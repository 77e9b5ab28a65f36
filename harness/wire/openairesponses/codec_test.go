package openairesponses_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openairesponses"
	"github.com/retake-harness/retake/harness/wire/wiretest"
)

func TestConformance(t *testing.T) {
	wiretest.Run(t, openairesponses.Codec{}, wiretest.Fixtures{
		Shape: wiretest.Shape{
			System:       true,
			OneSystem:    true,
			Roles:        []wire.Role{wire.RoleSystem, wire.RoleDeveloper},
			CallIDs:      true,
			ResultBlocks: true,
			TextBlocks:   true,
			NoParallel:   true,
			Params: []wire.Field{
				{Name: "include", Value: jsontext.Value(`["reasoning.encrypted_content"]`)},
				{Name: "store", Value: jsontext.Value("false")},
			},
			Blocks: []wire.Block{
				{Kind: wire.KindReasoning, Text: "hm", Raw: jsontext.Value(`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"U2ln"}`)},
				{Kind: wire.KindOpaque, Raw: jsontext.Value(`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}}`)},
				{Kind: wire.KindText, Text: "apart", Extra: jsontext.Value(`{"annotations":[],"#item":{"id":"msg_1","status":"completed"}}`)},
			},
		},
		Requests:  requests(),
		Same:      same(),
		Different: different(),
		Answers:   append(jsonAnswers(), streamAnswers()...),
	})
}

func requests() []wiretest.Request {
	m := func(items string) string { return `{"model":"gpt-5","input":[` + items + `]}` }
	return []wiretest.Request{
		{Why: "the input is a text", Body: `{"model":"gpt-5","input":"hi","instructions":"be brief"}`},
		{Why: "one turn of the assistant in many items", Body: m(`{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[],"logprobs":[]},{"type":"refusal","refusal":"b"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"c"}]},{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}","status":"completed"},{"role":"assistant","content":"d"},{"role":"assistant","content":"e"}`)},
		{Why: "results in a row are one message", Body: m(`{"type":"function_call_output","call_id":"a","output":"1"},{"type":"function_call_output","call_id":"b","id":"o","status":"completed","output":[{"type":"input_text","text":"2"},{"type":"input_image","image_url":"data:,"}]},{"type":"custom_tool_call_output","call_id":"c","output":"3"},{"type":"computer_call_output","call_id":"d","output":{"type":"x"}},{"role":"user","content":"go on"}`)},
		{Why: "an output without output", Body: m(`{"type":"function_call_output","call_id":"a"},{"type":"function_call_output","call_id":"b","output":null}`)},
		{Why: "a custom tool's call", Body: m(`{"type":"custom_tool_call","id":"ct","call_id":"a","name":"sh","input":"ls -l"}`)},
		{Why: "items that the server runs or keeps", Body: m(`{"type":"item_reference","id":"msg_1"},{"id":"rs_1"},{"type":"web_search_call","id":"ws","status":"completed"},{"type":"mcp_approval_response","approve":true,"approval_request_id":"x"}`)},
		{Why: "arguments that were cut, are missing, or are no text", Body: m(`{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x"},{"type":"function_call","call_id":"b","name":"f"},{"type":"function_call","call_id":"c","name":"f","arguments":{"x":1}},{"type":"function_call","call_id":"d","name":"f","arguments":""}`)},
		{Why: "parts of a user's message", Body: m(`{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_file","file_id":"f"},{"type":"text","text":"b"}]},{"role":"developer","id":"x","content":[]},{"role":"system","content":null}`)},
		{Why: "odd content of the assistant", Body: m(`{"role":"assistant","content":[]},{"role":"assistant"},{"role":"assistant","content":[{"type":"output_audio","data":"x"},{"type":"output_text","text":"a"}]},{"role":"assistant","name":"n","content":"x"}`)},
		{Why: "tools of several kinds", Body: `{"model":"m","input":"x","tools":[{"type":"function","name":"f","parameters":{},"strict":true},{"type":"web_search","search_context_size":"low"},{"type":"custom","name":"sh"}],"tool_choice":{"type":"function","name":"f"}}`},
		{Why: "a hosted tool is chosen", Body: `{"model":"m","input":"x","tool_choice":{"type":"web_search"}}`},
		{Why: "fields that are not what they should be", Body: `{"model":null,"input":7,"instructions":null,"tools":null,"max_output_tokens":null,"stream":false,"tool_choice":null}`},
		{Why: "no input at all", Body: `{"model":"m","prompt":{"id":"p"},"previous_response_id":"resp_1"}`},
	}
}

func same() [][]wiretest.Request {
	return [][]wiretest.Request{
		{
			{Body: `{"model":"m","input":"hi"}`},
			{Why: "a text is a user's message", Body: `{"input":[{"role":"user","content":"hi"}],"model":"m"}`},
			{Why: "a text is one text part", Body: `{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]}`},
			{Why: "defaults may be spelled out", Body: `{"model":"m","input":"hi","store":true,"stream":false,"truncation":"disabled","background":false,"temperature":null,"include":[],"tools":[]}`},
		},
		{
			{Body: `{"model":"m","input":[{"role":"assistant","content":"a"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}],"tools":[{"type":"function","name":"f"}]}`},
			{Why: "a completed item's status says nothing", Body: `{"model":"m","input":[{"type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[],"logprobs":[]}]},{"type":"function_call","status":"completed","call_id":"c","name":"f","arguments":"{}"}],"tools":[{"type":"function","name":"f"}],"tool_choice":"auto","parallel_tool_calls":true}`},
		},
	}
}

func different() [][]wiretest.Request {
	q := func(more string) wiretest.Request {
		return wiretest.Request{Why: "each of these changes the answer", Body: `{"model":"m","input":"hi"` + more + `}`}
	}
	return [][]wiretest.Request{{
		q(``), q(`,"stream":true`), q(`,"instructions":"x"`), q(`,"store":false`), q(`,"temperature":1`), q(`,"max_output_tokens":5`),
		q(`,"tool_choice":"required"`), q(`,"parallel_tool_calls":false`), q(`,"previous_response_id":"r"`), q(`,"include":["x"]`),
		q(`,"tools":[{"type":"function","name":"f"}]`), q(`,"tools":[{"type":"function","name":"f","strict":false}]`), q(`,"tools":[{"type":"function","name":"f","strict":true}]`),
		{Why: "another word", Body: `{"model":"m","input":"hi!"}`},
		{Why: "another role", Body: `{"model":"m","input":[{"role":"developer","content":"hi"}]}`},
		{Why: "two messages", Body: `{"model":"m","input":[{"role":"assistant","content":"a"},{"role":"assistant","content":"b"}]}`},
		{Why: "one message of two parts", Body: `{"model":"m","input":[{"role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}]}`},
	}}
}
