package referee_test

import "strings"

func geminiBodies() bodies {
	const usage = `,"usageMetadata":{"promptTokenCount":40,"candidatesTokenCount":9,"thoughtsTokenCount":2,"cachedContentTokenCount":5,"totalTokenCount":51}`
	const names = `,"modelVersion":"gemini-3-flash","responseId":"r1"}`
	part := func(parts, rest, usage string) string {
		return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + rest + `}]` + usage + names
	}
	whole := func(parts, reason string) string { return part(parts, `,"finishReason":"`+reason+`","index":0`, usage) }
	const (
		text = `{"text":"Let me look."}`
		call = `{"functionCall":{"name":"weather","args":{"city":"Paris","days":2}}}`
		id   = `{"functionCall":{"id":"call_1","name":"weather","args":{"city":"Paris"}}}`
	)
	open := part(text, ``, ``)
	end := whole(call, "STOP")
	return bodies{
		json: map[string]string{
			wholeAnswer:                    whole(text+","+call, "STOP"),
			"parallel calls, one with id":  whole(call+","+id, "STOP"),
			"call without args":            whole(`{"functionCall":{"name":"weather"}}`, "STOP"),
			"args that are no object":      whole(`{"functionCall":{"name":"weather","args":[1]}}`, "STOP"),
			"thought beside text":          whole(`{"text":"hm","thought":true},`+text, "STOP"),
			"malformed call":               whole(``, "MALFORMED_FUNCTION_CALL"),
			"the limit":                    whole(text, "MAX_TOKENS"),
			"unknown finish reason":        whole(text, "BORED"),
			"no finish reason":             part(text, ``, usage),
			"safety":                       `{"candidates":[{"finishReason":"SAFETY"}]` + usage + names,
			"blocked prompt":               `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}` + usage + names,
			"several candidates":           `{"candidates":[{"content":{"parts":[` + text + `]},"finishReason":"STOP"},{"content":{"parts":[{"text":"ho"}]},"finishReason":"MAX_TOKENS","index":1}]` + usage + names,
			"number too large for a float": whole(strings.Replace(call, `2`, `12345678901234567890`, 1), "STOP"),
			"error with status 200":        `{"error":{"code":500,"message":"internal","status":"INTERNAL"}}`,
		},
		streams: map[string]string{
			wholeStream:                   lines(open, end),
			"as a JSON array":             `[` + open + ",\r\n" + end + `]`,
			"no finish reason":            lines(open),
			"cut inside a chunk":          lines(open) + `data: {"candidates":[{"content":{"par`,
			"array cut after a chunk":     `[` + open + `,`,
			"error inside":                lines(open, `{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`),
			"error inside, without data:": lines(open) + `{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}` + "\n",
			"unknown finish reason":       lines(open, whole(``, "BORED")),
			"the last usage counts":       lines(part(text, ``, `,"usageMetadata":{"promptTokenCount":40,"candidatesTokenCount":1,"totalTokenCount":41}`), end),
			"chunk without candidates":    lines(open, `{"usageMetadata":{"promptTokenCount":40,"candidatesTokenCount":9,"thoughtsTokenCount":2,"cachedContentTokenCount":5,"totalTokenCount":51}`+names, whole(``, "STOP")),
			"event whose data is no JSON": lines(open, "oops", end),
		},
		errors: map[string]string{
			"an error":      `{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}`,
			"an empty body": ``,
		},
	}
}
