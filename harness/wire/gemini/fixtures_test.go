package gemini_test

import (
	"strings"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/wiretest"
)

const (
	usage  = `,"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":7,"totalTokenCount":17}`
	names  = `,"modelVersion":"gemini-2.5-flash","responseId":"r1"}`
	tokens = "input 10, output 7"
)

// chunk is an answer, or one chunk of a stream's; rest are members of its
// candidate, each with a comma in front.
func chunk(parts, rest, usage string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + rest + `}]` + usage + names
}

func whole(parts, reason string) string {
	return chunk(parts, `,"finishReason":"`+reason+`","index":0`, usage)
}

func events(chunks ...string) string {
	return "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\n"
}

func call(id, args string) string {
	if id != "" {
		id = `"id":"` + id + `",`
	}
	return `{"functionCall":{` + id + `"name":"weather","args":` + args + `}}`
}

func want(w wiretest.Want) wiretest.Want {
	w.ID, w.Model = "r1", "gemini-2.5-flash"
	if w.Usage == "" {
		w.Usage = tokens
	}
	if w.Reported == "" {
		w.Reported = w.Usage
	}
	return w
}

var stop = []string{"STOP"}

var jsonAnswers = []wiretest.Answer{
	{Why: "a text", Body: whole(`{"text":"hi"}`, "STOP"), Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: stop})},
	{
		Why: "calls stop with STOP; ids and args are optional", Body: whole(call("", `{"city": "Paris"}`)+`,{"functionCall":{"name":"time"}}`, "STOP"),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{Name: "weather", Args: `{"city":"Paris"}`}, {Name: "time", Args: `{}`}}, Stop: wire.StopToolCalls, RawStop: stop}),
	},
	{
		Why: "ids are kept", Body: whole(call("a", `{}`), "STOP"),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "weather", Args: `{}`}}, Stop: wire.StopToolCalls, RawStop: stop}),
	},
	{
		Why: "two calls with one id", Body: whole(call("a", `{}`)+","+call("a", `{}`), "STOP"),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{ID: "a", Name: "weather", Args: `{}`}, {ID: "a", Name: "weather", Args: `{}`}}, Stop: wire.StopToolCalls, RawStop: stop, Problems: []wire.ProblemKind{wire.ProblemDuplicateID}}),
	},
	{
		Why: "a signature stays with its part", Keep: []string{`"thoughtSignature":"c2ln"`, `"thoughtSignature":"dHdv"`},
		Body: whole(`{"text":"hm","thought":true},{"functionCall":{"name":"weather","args":{}},"thoughtSignature":"c2ln"},{"text":"","thoughtSignature":"dHdv"}`, "STOP"),
		Want: want(wiretest.Want{Reasoning: "hm", Calls: []wiretest.Call{{Name: "weather", Args: `{}`}}, Stop: wire.StopToolCalls, RawStop: stop}),
	},
	{
		Why: "code run by the provider is opaque", Keep: []string{`{"executableCode":{"language":"PYTHON","code":"1+1"}}`},
		Body: whole(`{"executableCode":{"language":"PYTHON","code":"1+1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"}},{"text":"2"}`, "STOP"),
		Want: want(wiretest.Want{Text: "2", Stop: wire.StopDone, RawStop: stop}),
	},
	{
		Why: "members of answer and candidate are kept", Body: `{"candidates":[{"content":{"parts":[{"text":"hi"}],"role":"model"},"finishReason":"STOP","avgLogprobs":-0.10,"safetyRatings":[]}]` + usage + `,"createTime":"x"` + names,
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: stop}),
	},
	{
		Why: "thoughts are a part of the output, the cache a part of the prompt", Body: chunk(`{"text":"hi"}`, `,"finishReason":"STOP"`, `,"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":7,"thoughtsTokenCount":5,"toolUsePromptTokenCount":3,"totalTokenCount":25}`),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: stop, Usage: "input 9, cache read 4, output 12, reasoning 5", Reported: "input 10, cache read 4, output 7, reasoning 5"}),
	},
	{
		Why: "a call cut by the limit", Body: whole(call("", `{}`), "MAX_TOKENS"),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{Name: "weather", Args: `{}`}}, Stop: wire.StopTruncated, RawStop: []string{"MAX_TOKENS"}}),
	},
	{Why: "a call that the provider could not read", Body: whole(``, "MALFORMED_FUNCTION_CALL"), Want: want(wiretest.Want{Stop: wire.StopMalformed, RawStop: []string{"MALFORMED_FUNCTION_CALL"}})},
	{
		Why: "arguments that are no object", Body: whole(call("", `"{\"a\":"`)+","+call("", `[1]`), "STOP"),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{Name: "weather", ArgsText: `{"a":`}, {Name: "weather", Args: `[1]`}}, Stop: wire.StopToolCalls, RawStop: stop, Problems: []wire.ProblemKind{wire.ProblemArgsCut, wire.ProblemArgsInvalid}}),
	},
	{Why: "the answer is refused", Body: `{"candidates":[{"finishReason":"SAFETY","safetyRatings":[{"blocked":true}]}]` + usage + names, Want: want(wiretest.Want{Stop: wire.StopRefused, RawStop: []string{"SAFETY"}})},
	{Why: "the prompt is refused", Body: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}` + usage + names, Want: want(wiretest.Want{Stop: wire.StopRefused, RawStop: []string{"PROHIBITED_CONTENT"}})},
	{Why: "a finish reason by its number", Body: chunk(`{"text":"hi"}`, `,"finishReason":1`, usage), Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: []string{"1"}})},
	{Why: "a number that the two APIs read differently", Body: chunk(`{"text":"hi"}`, `,"finishReason":6`, usage), Want: want(wiretest.Want{Text: "hi", Stop: wire.StopUnknown, RawStop: []string{"6"}})},
	{Why: "a finish reason of tomorrow", Body: whole(`{"text":"hi"}`, "BORED"), Want: want(wiretest.Want{Text: "hi", Stop: wire.StopUnknown, RawStop: []string{"BORED"}})},
	{
		Why: "of several candidates the first is the turn", Body: `{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"},{"content":{"parts":[{"text":"ho"}]},"finishReason":"MAX_TOKENS","index":1}]` + usage + names,
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: []string{"STOP", "MAX_TOKENS"}, Problems: []wire.ProblemKind{wire.ProblemChoices}}),
	},
	{
		Why: "an error with its status", Status: 429, Body: `{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[]}}`,
		Want: wiretest.Want{Err: &wire.APIError{Status: 429, Type: "RESOURCE_EXHAUSTED", Message: "slow down"}},
	},
}

var streamAnswers = []wiretest.Answer{
	{
		Why: "a text in chunks", ContentType: "text/event-stream", Body: events(chunk(`{"text":"h"}`, ``, ``), chunk(`{"text":"i é"}`, ``, ``), chunk(`{"text":""}`, `,"finishReason":"STOP"`, usage)),
		Want: want(wiretest.Want{Text: "hi é", Stop: wire.StopDone, RawStop: stop}),
	},
	{
		Why: "the last usage counts", Body: events(chunk(`{"text":"h"}`, ``, `,"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1,"totalTokenCount":11}`), chunk(`{"text":"i"}`, `,"finishReason":"STOP"`, usage)),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: stop}),
	},
	{
		Why: "calls come whole, the stop after them", Body: events(chunk(call("", `{"city":"Paris"}`), ``, ``), chunk(call("", `{"city":"London"}`), ``, ``), chunk(``, `,"finishReason":"STOP"`, usage)),
		Want: want(wiretest.Want{Calls: []wiretest.Call{{Name: "weather", Args: `{"city":"Paris"}`}, {Name: "weather", Args: `{"city":"London"}`}}, Stop: wire.StopToolCalls, RawStop: stop}),
	},
	{
		Why: "thoughts in chunks, and a signature in a part without text", Keep: []string{`{"text":"hm so","thought":true}`, `{"text":"","thoughtSignature":"c2ln"}`},
		Body: events(chunk(`{"text":"hm ","thought":true}`, ``, ``), chunk(`{"text":"so","thought":true}`, ``, ``), chunk(`{"text":"hi"}`, ``, ``), chunk(`{"text":"","thoughtSignature":"c2ln"}`, `,"finishReason":"STOP"`, usage)),
		Want: want(wiretest.Want{Text: "hi", Reasoning: "hm so", Stop: wire.StopDone, RawStop: stop}),
	},
	{
		Why: "a JSON array", ContentType: "application/json", Body: "[" + chunk(`{"text":"h"}`, ``, ``) + "\n,\r\n" + chunk(`{"text":"i"}`, `,"finishReason":"STOP"`, usage) + "\n]\n",
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: stop}),
	},
	{
		Why: "a JSON array that is cut", Body: "[" + chunk(`{"text":"h"}`, ``, usage) + `,{"candidates":[{"cont`,
		Want: want(wiretest.Want{Text: "h", Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemBadEvent, wire.ProblemNoTerminal}}),
	},
	{
		Why: "the stream ends without a finish reason", Body: events(chunk(`{"text":"h"}`, ``, usage)),
		Want: want(wiretest.Want{Text: "h", Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemNoTerminal}}),
	},
	{
		Why: "an event in the middle is no JSON: what it said is missing", Body: events(chunk(`{"text":"h"}`, ``, ``), "<html>", chunk(`{"text":"i"}`, `,"finishReason":"STOP"`, usage)),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: stop, Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemBadEvent}}),
	},
	{
		Why: "what comes after the end is missed by nobody", Body: events(chunk(`{"text":"hi"}`, `,"finishReason":"STOP"`, usage), "[DONE"),
		Want: want(wiretest.Want{Text: "hi", Stop: wire.StopDone, RawStop: stop, Problems: []wire.ProblemKind{wire.ProblemBadEvent}}),
	},
	{
		Why: "an event cut in its data", Body: events(chunk(`{"text":"h"}`, ``, usage)) + `data: {"candidates":[{"cont`,
		Want: want(wiretest.Want{Text: "h", Incomplete: true, Problems: []wire.ProblemKind{wire.ProblemBadEvent, wire.ProblemNoTerminal}}),
	},
	{
		Why: "an error in the middle of a stream", Body: events(chunk(`{"text":"h"}`, ``, ``), `{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`),
		Want: wiretest.Want{ID: "r1", Model: "gemini-2.5-flash", Text: "h", Incomplete: true, Err: &wire.APIError{Status: 200, Type: "UNAVAILABLE", Message: "overloaded"}},
	},
	{
		Why: "an error is all that comes, in an array", Body: `[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`,
		Want: wiretest.Want{Incomplete: true, Err: &wire.APIError{Status: 200, Type: "UNAVAILABLE", Message: "overloaded"}},
	},
	{Why: "the prompt is refused in a stream", Body: events(`{"promptFeedback":{"blockReason":"SAFETY"}` + usage + names), Want: want(wiretest.Want{Stop: wire.StopRefused, RawStop: []string{"SAFETY"}})},
}

const benchAnswer = `{"candidates":[{"content":{"parts":[{"text":"I'll look up the weather in both cities and then compare them, so that you know where you need an umbrella tomorrow and where you do not. The forecast comes from the service that you named; when it has nothing for a city I will say so instead of guessing. After that I book the train that leaves after nine, as you asked."},{"functionCall":{"name":"get_weather","args":{"city":"Paris","date":"2026-07-14","units":"metric","hours":[6,9,12,15,18,21]}},"thoughtSignature":"CiQB0e2Kb8f3mZq7T0pXw4o1d2VhdGhlcg=="},{"functionCall":{"name":"get_weather","args":{"city":"London","date":"2026-07-14","units":"metric","hours":[6,9,12,15,18,21]}}}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":812,"candidatesTokenCount":143,"totalTokenCount":955,"promptTokensDetails":[{"modality":"TEXT","tokenCount":812}]},"modelVersion":"gemini-2.5-flash","responseId":"AbCdEf"}`

var benchStream = events(chunk(`{"text":"I'll look up the weather in both cities "}`, ``, ``), chunk(`{"text":"and then compare them."}`, ``, ``),
	chunk(call("", `{"city":"Paris"}`), ``, ``), chunk(``, `,"finishReason":"STOP"`, usage))
