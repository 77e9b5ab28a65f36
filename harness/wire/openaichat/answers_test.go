package openaichat_test

import (
	"strings"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/wiretest"
)

// answer is a JSON answer with one choice.
func answer(message, finish, more string) string {
	return `{"id":"c1","object":"chat.completion","created":1,"model":"gpt-5","choices":[{"index":0,"message":` + message + `,"finish_reason":` + finish + `}]` + more + `}`
}

func jsonAnswers() []wiretest.Answer {
	w := func(w wiretest.Want) wiretest.Want { w.ID, w.Model = "c1", "gpt-5"; return w }
	stop := []string{"stop"}
	return []wiretest.Answer{
		{
			Why: "text, with all figures: cached input is taken out of the input",
			Body: answer(`{"role":"assistant","content":"hi","refusal":null,"annotations":[]}`, `"stop","logprobs":null`,
				`,"usage":{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":30},"completion_tokens_details":{"reasoning_tokens":20}},"service_tier":"default"`),
			Want: w(wiretest.Want{
				Text: "hi", Stop: wire.StopDone, RawStop: stop,
				Usage: "input 70, cache read 30, output 50, reasoning 20", Reported: "input 100, cache read 30, output 50, reasoning 20",
			}),
		},
		{
			Why: "xAI counts reasoning beside the output: the total tells",
			Body: answer(`{"role":"assistant","content":"hi"}`, `"stop"`,
				`,"usage":{"prompt_tokens":432,"completion_tokens":68,"total_tokens":636,"completion_tokens_details":{"reasoning_tokens":136}}`),
			Want: w(wiretest.Want{
				Text: "hi", Stop: wire.StopDone, RawStop: stop,
				Usage: "input 432, output 204, reasoning 136", Reported: "input 432, output 68, reasoning 136",
			}),
		},
		{
			Why: "parallel calls",
			Body: answer(`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1}"}},{"id":"b","type":"function","index":1,"function":{"name":"g","arguments":"{}"},"extra_content":{"google":{"thought_signature":"U2ln"}}}]}`,
				`"tool_calls"`, ``),
			Want: w(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "f", Args: `{"x":1}`}, {ID: "b", Name: "g", Args: `{}`}}, Stop: wire.StopToolCalls, RawStop: []string{"tool_calls"}}),
			Keep: []string{`"thought_signature":"U2ln"`},
		},
		{
			Why:  "a named tool choice ends with stop, and is a call all the same",
			Body: answer(`{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`, `"stop"`, ``),
			Want: w(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "f", Args: `{}`}}, Stop: wire.StopToolCalls, RawStop: stop}),
		},
		{
			Why:  "a call without parameters may have no arguments: they stay as they came",
			Body: answer(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}}]}`, `"tool_calls"`, ``),
			Want: w(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "f"}}, Stop: wire.StopToolCalls, RawStop: []string{"tool_calls"}}),
		},
		{
			Why:  "the same in a cut answer is a cut call",
			Body: answer(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}}]}`, `"length"`, ``),
			Want: w(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "f"}}, Stop: wire.StopTruncated, RawStop: []string{"length"}, Problems: []wire.ProblemKind{wire.ProblemArgsCut}}),
		},
		{
			Why:  "arguments cut by the limit are never {}",
			Body: answer(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": [1, 2"}}]}`, `"length"`, ``),
			Want: w(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "f", ArgsText: `{"x": [1, 2`}}, Stop: wire.StopTruncated, RawStop: []string{"length"}, Problems: []wire.ProblemKind{wire.ProblemArgsCut}}),
		},
		{
			Why: "arguments that are no JSON, or no object; one id twice",
			Body: answer(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"x=1"}},{"id":"a","type":"function","function":{"name":"f","arguments":"[1]"}}]}`,
				`"tool_calls"`, ``),
			Want: w(wiretest.Want{
				Calls: []wiretest.Call{{ID: "a", Name: "f", ArgsText: "x=1"}, {ID: "a", Name: "f", Args: "[1]"}}, Stop: wire.StopToolCalls, RawStop: []string{"tool_calls"},
				Problems: []wire.ProblemKind{wire.ProblemArgsInvalid, wire.ProblemArgsInvalid, wire.ProblemDuplicateID},
			}),
		},
		{
			Why:  "the legacy call counts as a call",
			Body: answer(`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"x\":1}"}}`, `"function_call"`, ``),
			Want: w(wiretest.Want{Calls: []wiretest.Call{{Name: "f", Args: `{"x":1}`}}, Stop: wire.StopToolCalls, RawStop: []string{"function_call"}}),
			Keep: []string{`"function_call":{"name":"f","arguments":"{\"x\":1}"}`},
		},
		{
			Why:  "a custom tool's input is text",
			Body: answer(`{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"sh","input":"ls"}}]}`, `"tool_calls"`, ``),
			Want: w(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "sh", ArgsText: "ls"}}, Stop: wire.StopToolCalls, RawStop: []string{"tool_calls"}}),
		},
		{
			Why:  "a refusal",
			Body: answer(`{"role":"assistant","content":null,"refusal":"I won't."}`, `"stop"`, ``),
			Want: w(wiretest.Want{Text: "I won't.", Stop: wire.StopRefused, RawStop: stop}),
		},
		{
			Why:  "the content filter",
			Body: answer(`{"role":"assistant","content":""}`, `"content_filter"`, ``),
			Want: w(wiretest.Want{Stop: wire.StopRefused, RawStop: []string{"content_filter"}}),
		},
		{
			Why:  "a finish reason that nobody knows",
			Body: answer(`{"role":"assistant","content":"x"}`, `"insufficient_system_resource"`, ``),
			Want: w(wiretest.Want{Text: "x", Stop: wire.StopUnknown, RawStop: []string{"insufficient_system_resource"}}),
		},
		{
			Why:  "Together's eos",
			Body: answer(`{"role":"assistant","content":"x"}`, `"eos"`, ``),
			Want: w(wiretest.Want{Text: "x", Stop: wire.StopDone, RawStop: []string{"eos"}}),
		},
		{
			Why:  "no finish reason",
			Body: answer(`{"role":"assistant","content":"x"}`, `null`, ``),
			Want: w(wiretest.Want{Text: "x", Stop: wire.StopNone}),
		},
		{
			Why:  "reasoning of two spellings is one thought, kept for the next request",
			Body: answer(`{"role":"assistant","content":"x","reasoning":"so","reasoning_details":[{"type":"reasoning.text","text":"so","signature":"U2ln","index":0}]}`, `"stop","native_finish_reason":"end_turn"`, ``),
			Want: w(wiretest.Want{Text: "x", Reasoning: "so", Stop: wire.StopDone, RawStop: stop}),
			Keep: []string{`"reasoning":"so"`, `"signature":"U2ln"`},
		},
		{
			Why:  "a thinking part (Mistral)",
			Body: answer(`{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"so"}]},{"type":"text","text":"x"}]}`, `"stop"`, ``),
			Want: w(wiretest.Want{Text: "x", Reasoning: "so", Stop: wire.StopDone, RawStop: stop}),
			Keep: []string{`{"type":"thinking","thinking":[{"type":"text","text":"so"}]}`},
		},
		{
			Why:  "several choices, out of order: the first is the turn",
			Body: `{"id":"c1","model":"gpt-5","choices":[{"index":1,"message":{"role":"assistant","content":"second"},"finish_reason":"length"},{"index":0,"message":{"role":"assistant","content":"first"},"finish_reason":"stop"}]}`,
			Want: w(wiretest.Want{Text: "first", Stop: wire.StopDone, RawStop: []string{"stop", "length"}, Problems: []wire.ProblemKind{wire.ProblemChoices}}),
		},
		{
			Why: "an error with its status", Status: 429, Body: `{"error":{"message":"slow down","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`,
			Want: wiretest.Want{Err: &wire.APIError{Status: 429, Type: "tokens", Message: "slow down"}},
		},
		{
			Why: "an error that is a text", Status: 402, Body: `{"error":"no credits"}`,
			Want: wiretest.Want{Err: &wire.APIError{Status: 402, Type: "http_402", Message: "no credits"}},
		},
		{
			Why: "an error without a wrapping", Status: 500, Body: `{"object":"error","message":"Service unavailable.","type":"internal_server_error","param":null,"code":"1000"}`,
			Want: wiretest.Want{Err: &wire.APIError{Status: 500, Type: "internal_server_error", Message: "Service unavailable."}},
		},
		{
			Why: "an error named detail", Status: 404, Body: `{"detail":"Not Found"}`,
			Want: wiretest.Want{Err: &wire.APIError{Status: 404, Type: "http_404", Message: "Not Found"}},
		},
		{
			Why: "an error inside a body of status 200", Body: `{"error":{"code":502,"message":"Provider returned error"},"user_id":"u"}`,
			Want: wiretest.Want{Err: &wire.APIError{Status: 200, Type: "http_502", Message: "Provider returned error"}},
		},
		{
			Why: "JSON under a stream's header", ContentType: "text/event-stream", Body: answer(`{"role":"assistant","content":"hi"}`, `"stop"`, ``),
			Want: w(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: stop}),
		},
	}
}

// chunks are a stream's events, one an argument; "d:" is short for a delta of
// the first choice, "f:" for its finish reason.
func chunks(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		head := `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[{"index":0,"delta":`
		if rest, ok := strings.CutPrefix(e, "d:"); ok {
			e = head + rest + `,"finish_reason":null}]}`
		} else if rest, ok := strings.CutPrefix(e, "f:"); ok {
			e = head + `{},"finish_reason":"` + rest + `"}]}`
		}
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

const done = "[DONE]"

func streamAnswers() []wiretest.Answer {
	w := func(w wiretest.Want) wiretest.Want { w.ID, w.Model = "c1", "gpt-5"; return w }
	stop, calls := []string{"stop"}, []string{"tool_calls"}
	f := wiretest.Call{ID: "a", Name: "f", Args: `{"x":1}`}
	return []wiretest.Answer{
		{
			Why: "text; the usage comes in a chunk without choices",
			Body: chunks(`d:{"role":"assistant","content":"","refusal":null}`, `d:{"content":"h"}`, `d:{"content":"i"}`, `f:stop`,
				`{"id":"c1","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":1}}}`, done),
			Want: w(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: stop, Usage: "input 2, cache read 1, output 2", Reported: "input 3, cache read 1, output 2"}),
		},
		{
			Why:  "the last usage that is not null counts",
			Body: chunks(`{"id":"c1","model":"gpt-5","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, `{"choices":[],"usage":null}`, done),
			Want: w(wiretest.Want{Text: "x", Stop: wire.StopDone, RawStop: stop, Usage: "input 3, output 2", Reported: "input 3, output 2"}),
		},
		{
			Why:  "Groq's usage within x_groq",
			Body: chunks(`d:{"content":"x"}`, `{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":2}}}`, done),
			Want: w(wiretest.Want{Text: "x", Stop: wire.StopDone, RawStop: stop, Usage: "input 3, output 2", Reported: "input 3, output 2"}),
		},
		{
			Why: "calls by their index, interleaved; 0 is an index",
			Body: chunks(`d:{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}`,
				`d:{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""}}]}`,
				`d:{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}`, `d:{"tool_calls":[{"index":1,"function":{"arguments":"{}"}},{"index":0,"function":{"arguments":":1}"}}]}`, `f:tool_calls`, done),
			Want: w(wiretest.Want{Calls: []wiretest.Call{f, {ID: "b", Name: "g", Args: `{}`}}, Stop: wire.StopToolCalls, RawStop: calls}),
		},
		{
			Why: "id and name repeated in every chunk are kept once",
			Body: chunks(`d:{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\""}}]}`,
				`d:{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":":1}"}}]}`, `f:tool_calls`, done),
			Want: w(wiretest.Want{Calls: []wiretest.Call{f}, Stop: wire.StopToolCalls, RawStop: calls, Problems: []wire.ProblemKind{wire.ProblemRepeatedKey}}),
		},
		{
			Why: "no index: the id decides",
			Body: chunks(`d:{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}`,
				`d:{"tool_calls":[{"id":"b","function":{"name":"f","arguments":"{\"x\":1}"}}]}`, `f:tool_calls`, done),
			Want: w(wiretest.Want{Calls: []wiretest.Call{f, {ID: "b", Name: "f", Args: `{"x":1}`}}, Stop: wire.StopToolCalls, RawStop: calls}),
		},
		{
			Why: "every call under index 0: another id with a name is another call",
			Body: chunks(`d:{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}`,
				`d:{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]}`, `f:tool_calls`, done),
			Want: w(wiretest.Want{Calls: []wiretest.Call{f, {ID: "b", Name: "g", Args: `{}`}}, Stop: wire.StopToolCalls, RawStop: calls}),
		},
		{
			Why: "neither index nor id, arguments as an object",
			Body: chunks(`d:{"tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]}`,
				`d:{"tool_calls":[{"function":{"name":"g","arguments":"{}"}}]}`, `f:stop`, done),
			Want: w(wiretest.Want{Calls: []wiretest.Call{{Name: "f", Args: `{"x":1}`}, {Name: "g", Args: `{}`}}, Stop: wire.StopToolCalls, RawStop: stop}),
		},
		{
			Why:  "the stream was cut inside the arguments",
			Body: chunks(`d:{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`),
			Want: w(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "f", ArgsText: `{"x"`}}, Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemArgsCut, wire.ProblemNoTerminal}}),
		},
		{
			Why:  "the stream was cut inside an event",
			Body: chunks(`d:{"content":"hi"}`) + `data: {"id":"c1","cho`,
			Want: w(wiretest.Want{Text: "hi", Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemBadEvent, wire.ProblemNoTerminal}}),
		},
		{
			Why:  "an event in the middle is no JSON: what it said is missing",
			Body: chunks(`d:{"content":"h"}`) + "data: <html>\n\n" + chunks(`d:{"content":"i"}`, `f:stop`, done),
			Want: w(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: stop, Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemBadEvent}}),
		},
		{
			Why:  "what comes after the end is missed by nobody",
			Body: chunks(`d:{"content":"hi"}`, `f:stop`, done) + "data: bye\n\n",
			Want: w(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: stop, Problems: []wire.ProblemKind{wire.ProblemBadEvent}}),
		},
		{
			Why:  "the limit cut the arguments",
			Body: chunks(`d:{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}`, `f:length`, done),
			Want: w(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "f"}}, Stop: wire.StopTruncated, RawStop: []string{"length"}, Problems: []wire.ProblemKind{wire.ProblemArgsCut}}),
		},
		{
			Why: "reasoning in fragments is put together, its signature kept",
			Body: chunks(`d:{"reasoning":"Le","reasoning_details":[{"type":"reasoning.text","text":"Le","index":0}]}`, `d:{"reasoning":"t's","reasoning_details":[{"type":"reasoning.text","text":"t's","index":0}]}`,
				`d:{"content":"x","reasoning_details":[{"type":"reasoning.text","signature":"U2ln","index":0}]}`, `f:stop`, done),
			Want: w(wiretest.Want{Text: "x", Reasoning: "Let's", Stop: wire.StopDone, RawStop: stop}),
			Keep: []string{`"reasoning":"Let's"`, `[{"type":"reasoning.text","text":"Let's","index":0,"signature":"U2ln"}]`},
		},
		{
			Why:  "a thought in parts (Mistral)",
			Body: chunks(`d:{"content":[{"type":"thinking","thinking":[{"type":"text","text":"s"}]}]}`, `d:{"content":[{"type":"thinking","thinking":[{"type":"text","text":"o"}]}]}`, `d:{"content":"x"}`, `f:stop`, done),
			Want: w(wiretest.Want{Text: "x", Reasoning: "so", Stop: wire.StopDone, RawStop: stop}),
			Keep: []string{`{"type":"thinking","thinking":[{"type":"text","text":"so"}]}`},
		},
		{
			Why:  "the legacy call in fragments",
			Body: chunks(`d:{"function_call":{"name":"f","arguments":""}}`, `d:{"function_call":{"arguments":"{\"x\":1}"}}`, `f:function_call`, done),
			Want: w(wiretest.Want{Calls: []wiretest.Call{{Name: "f", Args: `{"x":1}`}}, Stop: wire.StopToolCalls, RawStop: []string{"function_call"}}),
		},
		{
			Why:  "a custom tool's call in fragments",
			Body: chunks(`d:{"tool_calls":[{"index":0,"id":"a","type":"custom","custom":{"name":"sh","input":"l"}}]}`, `d:{"tool_calls":[{"index":0,"custom":{"input":"s"}}]}`, `f:tool_calls`, done),
			Want: w(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "sh", ArgsText: "ls"}}, Stop: wire.StopToolCalls, RawStop: calls}),
		},
		{
			Why:  "a refusal in fragments",
			Body: chunks(`d:{"refusal":"I "}`, `d:{"refusal":"won't."}`, `f:stop`, done),
			Want: w(wiretest.Want{Text: "I won't.", Stop: wire.StopRefused, RawStop: stop}),
		},
		{
			Why:  "several choices",
			Body: chunks(`d:{"content":"a"}`, `{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"length"}]}`, `f:stop`, done),
			Want: w(wiretest.Want{Text: "a", Stop: wire.StopDone, RawStop: []string{"stop", "length"}, Problems: []wire.ProblemKind{wire.ProblemChoices}}),
		},
		{
			Why:  "an error in the stream, status 200",
			Body: chunks(`d:{"content":"1"}`, `{"error":{"code":500,"message":"out of memory","type":"server_error"}}`),
			Want: w(wiretest.Want{Text: "1", Err: &wire.APIError{Status: 200, Type: "server_error", Message: "out of memory"}}),
		},
		{
			Why:  "an error beside empty choices (OpenRouter)",
			Body: ": OPENROUTER PROCESSING\n\n" + chunks(`{"id":"c1","model":"gpt-5","provider":"p","choices":[],"error":{"code":400,"message":"Provider returned error"}}`),
			Want: w(wiretest.Want{Err: &wire.APIError{Status: 200, Type: "http_400", Message: "Provider returned error"}}),
		},
		{
			Why: "a failed status with a stream's body", Status: 400, Body: chunks(`{"error":{"message":"bad","type":"invalid_request_error"}}`),
			Want: wiretest.Want{Err: &wire.APIError{Status: 400, Type: "invalid_request_error", Message: "bad"}},
		},
	}
}
