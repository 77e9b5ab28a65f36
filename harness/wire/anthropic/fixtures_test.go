package anthropic_test

import (
	"strings"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/wiretest"
)

// event is one event of a stream as the API sends it.
func event(kind, rest string) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + rest + "}\n\n"
}

func events(all ...string) string { return strings.Join(all, "") }

const (
	startUsage = `"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1}`
	startHead  = `,"message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-8","content":[],"stop_reason":null,"stop_sequence":null,`
)

var (
	start   = event("message_start", startHead+startUsage+"}")
	stop    = event("message_stop", "")
	ping    = event("ping", "")
	textOn  = event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	textOff = event("content_block_stop", `,"index":0`)
)

func end(reason string) string {
	return event("message_delta", `,"delta":{"stop_reason":`+reason+`,"stop_sequence":null},"usage":{"output_tokens":7}`) + stop
}

func text(s string) string {
	return event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"`+s+`"}`)
}

// call is a tool_use block whose input comes in the pieces given, as JSON strings.
func call(index, id string, pieces ...string) string {
	out := event("content_block_start", `,"index":`+index+`,"content_block":{"type":"tool_use","id":"`+id+`","name":"weather","input":{}}`)
	for _, p := range pieces {
		out += event("content_block_delta", `,"index":`+index+`,"delta":{"type":"input_json_delta","partial_json":`+p+`}`)
	}
	return out + event("content_block_stop", `,"index":`+index)
}

const (
	tokens      = "input 10, cache read 2, cache write 3, output 7"
	startTokens = "input 10, cache read 2, cache write 3, output 1"
)

func message(content, reason string) string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-8","content":[` + content + `],"stop_reason":` + reason +
		`,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":2,"output_tokens":7}}`
}

// want fills in what most answers have in common.
func want(w wiretest.Want) wiretest.Want {
	w.ID, w.Model = "msg_1", "claude-opus-4-8"
	if w.Usage == "" {
		w.Usage = tokens
	}
	w.Reported = w.Usage
	return w
}

var toolUse = []string{"tool_use"}

var jsonAnswers = []wiretest.Answer{
	{
		Why: "a text", Body: message(`{"type":"text","text":"hi","citations":null}`, `"end_turn"`),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: []string{"end_turn"}}),
	},
	{
		Why: "parallel calls, spelled as received", Body: message(`{"type":"tool_use","id":"a","name":"weather","input":{"city": "Paris"}},{"type":"tool_use","id":"b","name":"time","input":{}}`, `"tool_use"`),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "weather", Args: `{"city":"Paris"}`}, {ID: "b", Name: "time", Args: `{}`}}, Stop: wire.StopToolCalls, RawStop: toolUse}),
	},
	{
		Why: "two calls with one id", Body: message(`{"type":"tool_use","id":"a","name":"weather","input":{}},{"type":"tool_use","id":"a","name":"weather","input":{}}`, `"tool_use"`),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "weather", Args: `{}`}, {ID: "a", Name: "weather", Args: `{}`}}, Stop: wire.StopToolCalls, RawStop: toolUse, Problems: []wire.ProblemKind{wire.ProblemDuplicateID}}),
	},
	{
		Why: "thinking with its signature, and thinking that is redacted", Body: message(`{"type":"thinking","thinking":"hm","signature":"c2ln/+="},{"type":"redacted_thinking","data":"ZGF0YQ=="},{"type":"text","text":"hi"}`, `"end_turn"`),
		Keep: []string{`"c2ln/+="`, `"ZGF0YQ=="`},
		Want: want(wiretest.Want{Text: "hi", Reasoning: "hm", Stop: wire.StopDone, RawStop: []string{"end_turn"}}),
	},
	{
		Why: "a tool run by the provider is no client call", Body: message(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","encrypted_content":"ZW5j"}]}`, `"pause_turn"`),
		Keep: []string{`"srvtoolu_1"`, `"ZW5j"`},
		Want: want(wiretest.Want{Stop: wire.StopPaused, RawStop: []string{"pause_turn"}}),
	},
	{
		Why: "a refusal with its details", Body: strings.Replace(message(``, `"refusal"`), `"usage"`, `"stop_details":{"type":"refusal","category":"bio"},"usage"`, 1),
		Want: want(wiretest.Want{Stop: wire.StopRefused, RawStop: []string{"refusal"}}),
	},
	{
		Why: "a stop sequence", Body: strings.Replace(message(`{"type":"text","text":"hi"}`, `"stop_sequence"`), `"stop_sequence":null`, `"stop_sequence":"END"`, 1),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: []string{"stop_sequence"}}),
	},
	{
		Why: "a stop reason of tomorrow", Body: message(`{"type":"text","text":"hi"}`, `"bored"`),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopUnknown, RawStop: []string{"bored"}}),
	},
	{
		Why: "the limit struck inside a call, whose input looks whole", Body: message(`{"type":"tool_use","id":"a","name":"weather","input":{}}`, `"max_tokens"`),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "weather", Args: `{}`}}, Stop: wire.StopTruncated, RawStop: []string{"max_tokens"}, Problems: []wire.ProblemKind{wire.ProblemArgsCut}}),
	},
	{
		Why: "an input that is no object", Body: message(`{"type":"tool_use","id":"a","name":"weather","input":[1]},{"type":"tool_use","id":"b","name":"weather","input":"{\"a\":"}`, `"tool_use"`),
		Want: want(wiretest.Want{
			Calls: []wiretest.Call{{ID: "a", Name: "weather", Args: `[1]`}, {ID: "b", Name: "weather", ArgsText: `{"a":`}}, Stop: wire.StopToolCalls, RawStop: toolUse,
			Problems: []wire.ProblemKind{wire.ProblemArgsInvalid, wire.ProblemArgsCut},
		}),
	},
	{
		Why: "thinking tokens are a part of the output", Body: strings.Replace(message(`{"type":"text","text":"hi"}`, `"end_turn"`), `"output_tokens":7`, `"output_tokens":7,"output_tokens_details":{"thinking_tokens":4}`, 1),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: []string{"end_turn"}, Usage: tokens + ", reasoning 4"}),
	},
	{
		Why: "an error with its status", Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`,
		Want: wiretest.Want{Err: &wire.APIError{Status: 529, Type: "overloaded_error", Message: "Overloaded"}},
	},
	{
		Why: "an error with status 200", Body: `{"type":"error","error":{"type":"api_error","message":"m"}}`,
		Want: wiretest.Want{Err: &wire.APIError{Status: 200, Type: "api_error", Message: "m"}},
	},
}

var streamAnswers = []wiretest.Answer{
	{
		Why: "a streamed text; pings and unknown events are ignored", ContentType: "text/event-stream; charset=utf-8",
		Body: events(start, ping, textOn, text("h"), event("tomorrow", `,"x":1`), text(`i \u00e9`), textOff, end(`"end_turn"`)),
		Want: want(wiretest.Want{Text: "hi é", Stop: wire.StopDone, RawStop: []string{"end_turn"}}),
	},
	{
		Why: "arguments in pieces, the first of them empty", Body: events(start, call("0", "a", `""`, `"{\"city\": \"Pa"`, `"ris\"}"`), call("1", "b"), end(`"tool_use"`)),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "weather", Args: `{"city":"Paris"}`}, {ID: "b", Name: "weather", Args: `{}`}}, Stop: wire.StopToolCalls, RawStop: toolUse}),
	},
	{
		Why: "interleaved blocks are told apart by index", Body: events(start,
			event("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"a","name":"weather","input":{}}`),
			event("content_block_start", `,"index":1,"content_block":{"type":"tool_use","id":"b","name":"weather","input":{}}`),
			event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1}"}`),
			event("content_block_delta", `,"index":1,"delta":{"type":"input_json_delta","partial_json":"{\"n\":2}"}`),
			event("content_block_stop", `,"index":0`), event("content_block_stop", `,"index":1`), end(`"tool_use"`)),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "weather", Args: `{"n":1}`}, {ID: "b", Name: "weather", Args: `{"n":2}`}}, Stop: wire.StopToolCalls, RawStop: toolUse}),
	},
	{
		Why: "thinking and its signature in pieces", Keep: []string{`"thinking":"hm so"`, `"signature":"c2ln"`}, Body: events(start,
			event("content_block_start", `,"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}`),
			event("content_block_delta", `,"index":0,"delta":{"type":"thinking_delta","thinking":"hm "}`),
			event("content_block_delta", `,"index":0,"delta":{"type":"thinking_delta","thinking":"so"}`),
			event("content_block_delta", `,"index":0,"delta":{"type":"signature_delta","signature":"c2ln"}`),
			event("content_block_stop", `,"index":0`), end(`"end_turn"`)),
		Want: want(wiretest.Want{Reasoning: "hm so", Stop: wire.StopDone, RawStop: []string{"end_turn"}}),
	},
	{
		Why: "citations and the input of a provider's tool come as deltas", Keep: []string{`"citations":[{"n":1},{"n":2}]`, `"input":{"query":"q"}`}, Body: events(start,
			event("content_block_start", `,"index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`),
			event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"q\"}"}`),
			event("content_block_stop", `,"index":0`),
			event("content_block_start", `,"index":1,"content_block":{"type":"text","text":"","citations":[]}`),
			event("content_block_delta", `,"index":1,"delta":{"type":"citations_delta","citation":{"n":1}}`),
			event("content_block_delta", `,"index":1,"delta":{"type":"citations_delta","citation":{"n":2}}`),
			event("content_block_delta", `,"index":1,"delta":{"type":"text_delta","text":"hi"}`),
			event("content_block_stop", `,"index":1`), end(`"end_turn"`)),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: []string{"end_turn"}}),
	},
	{
		Why: "a delta's usage is cumulative and may leave out or null what is known", Body: events(start, textOn, text("hi"), textOff,
			event("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,"output_tokens":5}`),
			event("message_delta", `,"delta":{},"usage":{"input_tokens":11,"output_tokens":9}`), stop),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: []string{"end_turn"}, Usage: "input 11, cache read 2, cache write 3, output 9"}),
	},
	{
		Why: "the stream ends without message_stop", Body: events(start, textOn, text("hi")),
		Want: want(wiretest.Want{Text: "hi", Usage: startTokens, Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemNoTerminal}}),
	},
	{
		Why: "even a stop reason is no end", Body: events(start, textOn, text("hi"), textOff, event("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}`)),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: []string{"end_turn"}, Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemNoTerminal}}),
	},
	{
		Why: "the stream is cut inside the arguments", Body: events(start, event("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"a","name":"weather","input":{}}`),
			event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Par"}`)),
		Want: want(wiretest.Want{
			Calls: []wiretest.Call{{ID: "a", Name: "weather", ArgsText: `{"city":"Par`}}, Usage: startTokens, Incomplete: true,
			Problems: []wire.ProblemKind{wire.ProblemArgsCut, wire.ProblemNoTerminal},
		}),
	},
	{
		Why: "the stream is cut before the arguments: that is not {}", Body: events(start, event("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"a","name":"weather","input":{}}`)),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "weather"}}, Usage: startTokens, Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemArgsCut, wire.ProblemNoTerminal}}),
	},
	{
		Why: "the limit struck before the arguments", Body: events(start, call("0", "a"), end(`"max_tokens"`)),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "weather"}}, Stop: wire.StopTruncated, RawStop: []string{"max_tokens"}, Problems: []wire.ProblemKind{wire.ProblemArgsCut}}),
	},
	{
		Why: "eagerly streamed arguments may be no JSON", Body: events(start, call("0", "a", `"{city: 1}"`), end(`"tool_use"`)),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "weather", ArgsText: "{city: 1}"}}, Stop: wire.StopToolCalls, RawStop: toolUse, Problems: []wire.ProblemKind{wire.ProblemArgsInvalid}}),
	},
	{
		Why: "an error in the middle of a stream", Body: events(start, textOn, text("h"), event("error", `,"error":{"type":"overloaded_error","message":"Overloaded"}`)),
		Want: want(wiretest.Want{Text: "h", Usage: startTokens, Incomplete: true, Err: &wire.APIError{Status: 200, Type: "overloaded_error", Message: "Overloaded"}}),
	},
	{
		Why: "an error is all that comes", Body: event("error", `,"error":{"type":"overloaded_error","message":"Overloaded"}`),
		Want: wiretest.Want{Incomplete: true, Err: &wire.APIError{Status: 200, Type: "overloaded_error", Message: "Overloaded"}},
	},
	{
		Why: "an event in the middle is no JSON: what it said is missing", Body: events(start, textOn, text("hi"), "event: content_block_delta\ndata: <html>\n\n", textOff, end(`"end_turn"`)),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: []string{"end_turn"}, Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemBadEvent}}),
	},
	{
		Why: "what comes after the end is missed by nobody", Body: events(start, textOn, text("hi"), textOff, end(`"end_turn"`), "data: [DONE]\n\n"),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: []string{"end_turn"}, Problems: []wire.ProblemKind{wire.ProblemBadEvent}}),
	},
	{
		Why: "an event cut in its data", Body: events(start, textOn, text("hi")) + "event: content_block_delta\ndata: {\"type\":\"content_bl",
		Want: want(wiretest.Want{Text: "hi", Usage: startTokens, Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemBadEvent, wire.ProblemNoTerminal}}),
	},
}
