package openairesponses_test

import (
	"strconv"
	"strings"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/wiretest"
)

const (
	message   = `{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[],"logprobs":[]}]}`
	call      = `{"type":"function_call","id":"fc_1","status":"completed","call_id":"call_1","name":"f","arguments":"{\"x\": 1}"}`
	reasoning = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"so"}],"encrypted_content":"U2ln"}`
	usage     = `{"input_tokens":100,"input_tokens_details":{"cached_tokens":30},"output_tokens":50,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":150}`
)

// response is a response object with this status and output.
func response(status, output string) string {
	incomplete := "null"
	if state, reason, ok := strings.Cut(status, ":"); ok {
		status, incomplete = state, `{"reason":"`+reason+`"}`
	}
	return `{"id":"resp_1","object":"response","created_at":1,"status":"` + status + `","error":null,"incomplete_details":` + incomplete +
		`,"model":"gpt-5","output":[` + output + `],"tools":[],"usage":` + usage + `}`
}

func want(w wiretest.Want, status string) wiretest.Want {
	w.ID, w.Model, w.RawStop = "resp_1", "gpt-5", []string{status}
	w.Usage, w.Reported = "input 70, cache read 30, output 50, reasoning 20", "input 100, cache read 30, output 50, reasoning 20"
	return w
}

func jsonAnswers() []wiretest.Answer {
	f := wiretest.Call{ID: "call_1", Name: "f", Args: `{"x":1}`}
	return []wiretest.Answer{
		{
			Why: "text after reasoning, all of it kept", Body: response("completed", reasoning+","+message),
			Want: want(wiretest.Want{Text: "hi", Reasoning: "so", Stop: wire.StopDone}, "completed"),
			Keep: []string{reasoning, `"id":"msg_1"`, `"status":"completed"`, `"annotations":[]`},
		},
		{
			Why: "parallel calls", Body: response("completed", message+","+call+`,{"type":"function_call","id":"fc_2","call_id":"call_2","name":"g","arguments":"{}"}`),
			Want: want(wiretest.Want{Text: "hi", Calls: []wiretest.Call{f, {ID: "call_2", Name: "g", Args: "{}"}}, Stop: wire.StopToolCalls}, "completed"),
			Keep: []string{`"id":"fc_1"`},
		},
		{
			Why: "one call_id under two item ids is one call", Body: response("completed", call+","+strings.Replace(call, "fc_1", "fc_2", 1)),
			Want: want(wiretest.Want{Calls: []wiretest.Call{f}, Stop: wire.StopToolCalls, Problems: []wire.ProblemKind{wire.ProblemDuplicateID}}, "completed"),
		},
		{
			Why: "one call_id with two sets of arguments is two calls", Body: response("completed", call+","+strings.Replace(call, "1}", "2}", 1)),
			Want: want(wiretest.Want{Calls: []wiretest.Call{f, {ID: "call_1", Name: "f", Args: `{"x":2}`}}, Stop: wire.StopToolCalls, Problems: []wire.ProblemKind{wire.ProblemDuplicateID}}, "completed"),
		},
		{
			Why: "a custom tool's input is text", Body: response("completed", `{"type":"custom_tool_call","id":"ct_1","call_id":"call_1","name":"sh","input":"ls"}`),
			Want: want(wiretest.Want{Calls: []wiretest.Call{{ID: "call_1", Name: "sh", ArgsText: "ls"}}, Stop: wire.StopToolCalls}, "completed"),
			Keep: []string{`"id":"ct_1"`},
		},
		{
			Why: "a provider-run tool is no call of ours", Body: response("completed", `{"type":"web_search_call","id":"ws_1","status":"completed"},`+message),
			Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone}, "completed"),
			Keep: []string{`"id":"ws_1"`},
		},
		{
			Why: "the limit cut the arguments", Body: response("incomplete:max_output_tokens", `{"type":"function_call","id":"fc_1","status":"incomplete","call_id":"call_1","name":"f","arguments":"{\"x"}`),
			Want: want(wiretest.Want{Calls: []wiretest.Call{{ID: "call_1", Name: "f", ArgsText: `{"x`}}, Stop: wire.StopTruncated, Problems: []wire.ProblemKind{wire.ProblemArgsCut}}, "incomplete:max_output_tokens"),
		},
		{
			Why: "the content filter", Body: response("incomplete:content_filter", message),
			Want: want(wiretest.Want{Text: "hi", Stop: wire.StopRefused}, "incomplete:content_filter"),
		},
		{
			Why: "a refusal", Body: response("completed", `{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`),
			Want: want(wiretest.Want{Text: "no", Stop: wire.StopRefused}, "completed"),
		},
		{
			Why: "a status that nobody knows", Body: response("cancelled", message),
			Want: want(wiretest.Want{Text: "hi", Stop: wire.StopUnknown}, "cancelled"),
		},
		{
			Why: "a failed response has no stop reason", Body: strings.Replace(response("failed", ""), `"error":null`, `"error":{"code":"server_error","message":"oops"}`, 1),
			Want: wiretest.Want{
				ID: "resp_1", Model: "gpt-5", Err: &wire.APIError{Status: 200, Type: "server_error", Message: "oops"},
				Usage: "input 70, cache read 30, output 50, reasoning 20", Reported: "input 100, cache read 30, output 50, reasoning 20",
			},
		},
		{
			Why: "an error with its status", Status: 400, Body: `{"error":{"message":"no such model","type":"invalid_request_error","param":"model","code":null}}`,
			Want: wiretest.Want{Err: &wire.APIError{Status: 400, Type: "invalid_request_error", Message: "no such model"}},
		},
		{
			Why: "an error in a body of status 200", Body: `{"error":{"message":"oops","code":500}}`,
			Want: wiretest.Want{Err: &wire.APIError{Status: 200, Type: "http_500", Message: "oops"}},
		},
	}
}

// events are a stream's events; each is its data, whose type is its name.
func events(data ...string) string {
	var b strings.Builder
	for i, d := range data {
		name, _, _ := strings.Cut(strings.TrimPrefix(d, `{"type":"`), `"`)
		d = strings.TrimSuffix(d, "}") + `,"sequence_number":` + strconv.Itoa(i) + "}"
		b.WriteString("event: " + name + "\ndata: " + d + "\n\n")
	}
	return b.String()
}

func streamAnswers() []wiretest.Answer {
	created := `{"type":"response.created","response":` + response("in_progress", "") + `}`
	end := func(status, output string) string {
		state, _, _ := strings.Cut(status, ":")
		return `{"type":"response.` + state + `","response":` + response(status, output) + `}`
	}
	begun := strings.Replace(strings.Replace(call, `"status":"completed"`, `"status":"in_progress"`, 1), `{\"x\": 1}`, "", 1)
	added := `{"type":"response.output_item.added","output_index":0,"item":` + begun + `}`
	delta := func(s string) string {
		return `{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":` + strconv.Quote(s) + `}`
	}
	f := wiretest.Call{ID: "call_1", Name: "f", Args: `{"x":1}`}
	cut := func(w wiretest.Want) wiretest.Want {
		w.ID, w.Model, w.Incomplete = "resp_1", "gpt-5", true
		w.Problems = append(w.Problems, wire.ProblemNoTerminal)
		return w
	}
	return []wiretest.Answer{
		{
			Why: "the terminal event has the whole response", Body: events(created, added, delta(`{"x"`), delta(`: 1}`), `{"type":"response.unheard_of"}`, `{"type":"response.output_item.done","output_index":0,"item":`+call+`}`, end("completed", reasoning+","+call)),
			Want: want(wiretest.Want{Reasoning: "so", Calls: []wiretest.Call{f}, Stop: wire.StopToolCalls}, "completed"),
			Keep: []string{reasoning},
		},
		{
			Why: "a terminal event without output: the items count", Body: events(created, `{"type":"response.output_item.done","output_index":1,"item":`+call+`}`, `{"type":"response.output_item.done","output_index":0,"item":`+message+`}`, end("completed", "")),
			Want: want(wiretest.Want{Text: "hi", Calls: []wiretest.Call{f}, Stop: wire.StopToolCalls}, "completed"),
		},
		{
			Why: "the limit", Body: events(created, end("incomplete:max_output_tokens", message)),
			Want: want(wiretest.Want{Text: "hi", Stop: wire.StopTruncated}, "incomplete:max_output_tokens"),
		},
		{
			Why: "no terminal event: finished items count", Body: events(created, `{"type":"response.output_item.done","output_index":0,"item":`+message+`}`, `{"type":"response.output_item.done","output_index":1,"item":`+call+`}`),
			Want: cut(wiretest.Want{Text: "hi", Calls: []wiretest.Call{f}}),
		},
		{
			Why: "the stream was cut inside the arguments", Body: events(created, added, delta(`{"x"`)),
			Want: cut(wiretest.Want{Calls: []wiretest.Call{{ID: "call_1", Name: "f", ArgsText: `{"x"`}}, Problems: []wire.ProblemKind{wire.ProblemArgsCut}}),
		},
		{
			Why: "the arguments were done, their item was not", Body: events(created, added, delta(`{"x"`), `{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"x\": 1}"}`),
			Want: cut(wiretest.Want{Calls: []wiretest.Call{f}}),
		},
		{
			Why: "the stream was cut inside a text, and inside an event", Body: events(created, `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","role":"assistant","status":"in_progress","content":[]}}`, `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"h"}`) + `data: {"type":"resp`,
			Want: cut(wiretest.Want{Text: "h", Problems: []wire.ProblemKind{wire.ProblemBadEvent}}),
		},
		{
			Why: "an event in the middle is no JSON: what it said may be missing", Body: events(created) + "data: <html>\n\n" + events(end("completed", call)),
			Want: want(wiretest.Want{Calls: []wiretest.Call{f}, Stop: wire.StopToolCalls, Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemBadEvent}}, "completed"),
		},
		{
			Why: "what comes after the end is missed by nobody", Body: events(created, end("completed", call)) + "data: bye\n\n",
			Want: want(wiretest.Want{Calls: []wiretest.Call{f}, Stop: wire.StopToolCalls, Problems: []wire.ProblemKind{wire.ProblemBadEvent}}, "completed"),
		},
		{
			Why: "failed", Body: events(created, strings.Replace(end("failed", ""), `"error":null`, `"error":{"code":"server_error","message":"oops"}`, 1)),
			Want: wiretest.Want{
				ID: "resp_1", Model: "gpt-5", Err: &wire.APIError{Status: 200, Type: "server_error", Message: "oops"},
				Usage: "input 70, cache read 30, output 50, reasoning 20", Reported: "input 100, cache read 30, output 50, reasoning 20",
			},
		},
		{
			Why: "an error event", Body: events(created, `{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null}`),
			Want: wiretest.Want{ID: "resp_1", Model: "gpt-5", Err: &wire.APIError{Status: 200, Type: "rate_limit_exceeded", Message: "slow down"}},
		},
		{
			Why: "an error event with an error inside, before anything else", Body: events(`{"type":"error","error":{"type":"invalid_request_error","code":"x","message":"bad"}}`),
			Want: wiretest.Want{Err: &wire.APIError{Status: 200, Type: "invalid_request_error", Message: "bad"}},
		},
	}
}
