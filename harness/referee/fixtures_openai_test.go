package referee_test

import "strings"

func chatBodies() bodies {
	const usage = `"usage":{"prompt_tokens":40,"completion_tokens":9,"total_tokens":49,"prompt_tokens_details":{"cached_tokens":5},"completion_tokens_details":{"reasoning_tokens":2}}`
	const done = "[DONE]"
	whole := func(message, reason string) string {
		return `{"id":"c1","object":"chat.completion","created":1,"model":"gpt-5","choices":[{"index":0,"message":` + message + `,"finish_reason":` + reason + `}],` + usage + `}`
	}
	chunk := func(delta, reason string) string {
		return `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + reason + `}]}`
	}
	calls := func(list string) string { return chunk(`{"tool_calls":[`+list+`]}`, `null`) }
	const (
		call  = `{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Paris\"}"}}`
		first = `{"index":0,"id":"call_1","type":"function","function":{"name":"weather","arguments":""}}`
		argsA = `{"index":0,"function":{"arguments":"{\"city\":"}}`
		argsB = `{"index":0,"function":{"arguments":"\"Paris\"}"}}`
		last  = `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[],` + usage + `}`
	)
	role, text, end := chunk(`{"role":"assistant","content":""}`, `null`), chunk(`{"content":"Let me look."}`, `null`), chunk(`{}`, `"stop"`)
	toolEnd := chunk(`{}`, `"tool_calls"`)
	again := func(args string) string {
		return calls(`{"index":0,"id":"call_1","type":"function","function":{"name":"weather","arguments":"` + args + `"}}`)
	}
	return bodies{
		json: map[string]string{
			wholeAnswer:              whole(`{"role":"assistant","content":"Let me look.","tool_calls":[`+call+`]}`, `"tool_calls"`),
			"parallel calls":         whole(`{"role":"assistant","content":null,"tool_calls":[`+call+`,`+strings.Replace(call, "call_1", "call_2", 1)+`]}`, `"tool_calls"`),
			"one id for two calls":   whole(`{"role":"assistant","content":null,"tool_calls":[`+call+`,`+call+`]}`, `"tool_calls"`),
			"arguments cut by limit": whole(`{"role":"assistant","content":null,"tool_calls":[`+strings.Replace(call, `\"}"`, `"`, 1)+`]}`, `"length"`),
			"arguments as an object": whole(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":{"city":"Paris"}}}]}`, `"tool_calls"`),
			"legacy function_call":   whole(`{"role":"assistant","content":null,"function_call":{"name":"weather","arguments":"{}"}}`, `"function_call"`),
			"content in parts":       whole(`{"role":"assistant","content":[{"type":"text","text":"Let me look."}]}`, `"stop"`),
			"refusal":                whole(`{"role":"assistant","content":null,"refusal":"No."}`, `"stop"`),
			"unknown finish reason":  whole(`{"role":"assistant","content":"Let me look."}`, `"bored"`),
			"no finish reason":       whole(`{"role":"assistant","content":"Let me look."}`, `null`),
			"no choices":             `{"id":"c1","object":"chat.completion","created":1,"model":"gpt-5","choices":[],` + usage + `}`,
			"choices out of order":   `{"id":"c1","object":"chat.completion","created":1,"model":"gpt-5","choices":[{"index":1,"message":{"role":"assistant","content":"second"},"finish_reason":"length"},{"index":0,"message":{"role":"assistant","content":"first"},"finish_reason":"stop"}],` + usage + `}`,
			"error with status 200":  `{"error":{"message":"Provider returned error","code":502}}`,
			"custom tool":            whole(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"custom","custom":{"name":"shell","input":"ls"}}]}`, `"tool_calls"`),
		},
		streams: map[string]string{
			wholeStream:                       lines(role, text, calls(first), calls(argsA), calls(argsB), toolEnd, last, done),
			"no [DONE]":                       lines(role, text, end, last),
			"no finish reason, no [DONE]":     lines(role, text),
			"no finish reason, but [DONE]":    lines(role, text, done),
			"cut inside the arguments":        lines(role, calls(first), calls(argsA)),
			"cut inside an event":             lines(role, text) + `data: {"id":"c1","obj`,
			"arguments cut by the limit":      lines(role, calls(first), calls(argsA), chunk(`{}`, `"length"`), last, done),
			"id and name in every chunk":      lines(role, again(`{\"city\":`), again(`\"Paris\"}`), toolEnd, done),
			"interleaved calls":               lines(role, calls(first), calls(strings.NewReplacer(`"index":0`, `"index":1`, `call_1`, `call_2`).Replace(first)), calls(argsA), calls(strings.Replace(argsA, `"index":0`, `"index":1`, 1)), calls(argsB), calls(strings.Replace(argsB, `"index":0`, `"index":1`, 1)), toolEnd, done),
			"two calls, both with index 0":    lines(role, again(`{}`), strings.ReplaceAll(again(`{}`), "call_1", "call_2"), toolEnd, done),
			"two calls without index":         lines(role, strings.Replace(again(`{}`), `"index":0,"id"`, `"id"`, 1), strings.NewReplacer(`"index":0,"id"`, `"id"`, `call_1`, `call_2`).Replace(again(`{}`)), toolEnd, done),
			"error inside":                    lines(role, text, `{"error":{"message":"out of memory","type":"server_error","code":500}}`),
			"error beside empty choices":      lines(`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[],"error":{"code":400,"message":"Provider returned error"}}`),
			"unknown finish reason":           lines(role, text, chunk(`{}`, `"bored"`), last, done),
			"usage with every chunk":          lines(strings.Replace(text, `}]}`, `}],"usage":{"prompt_tokens":40,"completion_tokens":2,"total_tokens":42}}`, 1), strings.Replace(end, `}]}`, `}],`+usage+`}`, 1), done),
			"usage, then null":                lines(text, end, last, `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[],"usage":null}`, done),
			"legacy function_call in pieces":  lines(chunk(`{"role":"assistant","function_call":{"name":"weather","arguments":""}}`, `null`), chunk(`{"function_call":{"arguments":"{}"}}`, `null`), chunk(`{}`, `"function_call"`), done),
			"event whose data is no JSON":     lines(role, text, "oops", end, done),
			"text and calls after the [DONE]": lines(role, text, end, done, text),
		},
		errors: map[string]string{
			"an error":      `{"error":{"message":"slow down","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`,
			"an empty body": ``,
		},
	}
}

func responsesBodies() bodies {
	const (
		message = `{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Let me look.","annotations":[]}]}`
		call    = `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather","arguments":"{\"city\":\"Paris\"}","status":"completed"}`
		begun   = `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather","arguments":"","status":"in_progress"}`
		argsA   = `{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"city\":"}`
		argsB   = `{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"\"Paris\"}"}`
	)
	response := func(status, detail, output string) string {
		return `{"id":"resp_1","object":"response","created_at":1,"model":"gpt-5","status":"` + status + `","error":null,"incomplete_details":` + detail + `,"output":[` + output +
			`],"usage":{"input_tokens":40,"input_tokens_details":{"cached_tokens":5},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":49}}`
	}
	end := func(event, response string) string {
		return `{"type":"response.` + event + `","response":` + response + `}`
	}
	item := func(event, item string) string {
		return `{"type":"response.output_item.` + event + `","output_index":0,"item":` + item + `}`
	}
	created := end("created", response("in_progress", "null", ""))
	both := response("completed", "null", message+","+call)
	limit := response("incomplete", `{"reason":"max_output_tokens"}`, message)
	failed := strings.Replace(response("failed", "null", ""), `"error":null`, `"error":{"code":"server_error","message":"oops"}`, 1)
	return bodies{
		json: map[string]string{
			wholeAnswer:                      both,
			"one call_id under two item ids": response("completed", "null", call+","+strings.Replace(call, "fc_1", "fc_2", 1)),
			"arguments cut by the limit":     response("incomplete", `{"reason":"max_output_tokens"}`, strings.Replace(call, `\"}"`, `"`, 1)),
			"incomplete":                     limit,
			"failed":                         failed,
			"unknown status":                 response("bored", "null", message),
			"unknown item":                   response("completed", "null", `{"type":"hologram","id":"h1"},`+message),
			"refusal":                        response("completed", "null", `{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"refusal","refusal":"No."}]}`),
			"error with status 200":          `{"error":{"message":"Provider returned error","code":"server_error"}}`,
		},
		streams: map[string]string{
			wholeStream:                      typed(created, item("added", begun), argsA, argsB, item("done", call), end("completed", both)),
			"data without event lines":       lines(created, item("added", begun), argsA, argsB, item("done", call), end("completed", both)),
			"no terminal event":              typed(created, item("added", begun), argsA, argsB, item("done", call)),
			"cut inside the arguments":       typed(created, item("added", begun), argsA),
			"cut inside an event":            typed(created, item("done", message)) + "event: response.completed\ndata: {\"type\":\"resp",
			"terminal event without output":  typed(created, item("done", call), end("completed", response("completed", "null", ""))),
			"incomplete":                     typed(created, end("incomplete", limit)),
			"failed":                         typed(created, end("failed", failed)),
			"error inside":                   typed(created, item("done", message), `{"type":"error","code":"server_error","message":"oops","param":null}`),
			"unknown event":                  typed(created, `{"type":"response.tomorrow","x":1}`, end("completed", both)),
			"one call_id under two item ids": typed(created, item("done", call), item("done", strings.Replace(call, "fc_1", "fc_2", 1)), end("completed", response("completed", "null", call+","+strings.Replace(call, "fc_1", "fc_2", 1)))),
		},
		errors: map[string]string{
			"an error":      `{"error":{"message":"slow down","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`,
			"an empty body": ``,
		},
	}
}
