package referee_test

import "strings"

// typed are the events of a stream that names each by its data's type.
func typed(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		name, _, _ := strings.Cut(strings.TrimPrefix(d, `{"type":"`), `"`)
		b.WriteString("event: " + name + "\ndata: " + d + "\n\n")
	}
	return b.String()
}

func anthropicMessage(content, stop string) string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-8","content":[` + content + `],"stop_reason":` + stop +
		`,"stop_sequence":null,"usage":{"input_tokens":40,"cache_read_input_tokens":5,"cache_creation_input_tokens":3,"output_tokens":9}}`
}

func anthropicBodies() bodies {
	const (
		text    = `{"type":"text","text":"Let me look."}`
		use     = `{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Paris","days":2}}`
		start   = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-8","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":40,"cache_read_input_tokens":5,"cache_creation_input_tokens":3,"output_tokens":1}}}`
		textOn  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
		textIs  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me look."}}`
		textOff = `{"type":"content_block_stop","index":0}`
		useOn   = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}}`
		useNone = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`
		useA    = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Pa"}}`
		useB    = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"ris\",\"days\":2}"}}`
		useOff  = `{"type":"content_block_stop","index":1}`
		stop    = `{"type":"message_stop"}`
	)
	delta := func(reason, usage string) string {
		return `{"type":"message_delta","delta":{"stop_reason":` + reason + `,"stop_sequence":null},"usage":` + usage + `}`
	}
	end := delta(`"tool_use"`, `{"output_tokens":9}`)
	whole := []string{start, textOn, textIs, textOff, useOn, useNone, useA, useB, useOff, end, stop}
	return bodies{
		json: map[string]string{
			wholeAnswer:                          anthropicMessage(text+","+use, `"tool_use"`),
			"parallel calls":                     anthropicMessage(use+","+strings.Replace(use, "toolu_1", "toolu_2", 1), `"tool_use"`),
			"one id for two calls":               anthropicMessage(use+","+use, `"tool_use"`),
			"input that is no object":            anthropicMessage(`{"type":"tool_use","id":"toolu_1","name":"weather","input":[1]}`, `"tool_use"`),
			"cut by the limit inside a call":     anthropicMessage(`{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}`, `"max_tokens"`),
			"unknown stop reason":                anthropicMessage(text, `"bored"`),
			"no stop reason":                     anthropicMessage(text, `null`),
			"unknown block":                      anthropicMessage(text+`,{"type":"hologram","data":"x"}`, `"end_turn"`),
			"refusal":                            anthropicMessage(``, `"refusal"`),
			"error with status 200":              `{"type":"error","error":{"type":"api_error","message":"internal"}}`,
			"number too large for a float":       anthropicMessage(strings.Replace(use, `"days":2`, `"days":12345678901234567890`, 1), `"tool_use"`),
			"thinking, its signature, then text": anthropicMessage(`{"type":"thinking","thinking":"hm","signature":"c2ln"},`+text, `"end_turn"`),
		},
		streams: map[string]string{
			wholeStream:                         typed(whole...),
			"data without event lines":          lines(whole...),
			"ping and unknown event":            typed(start, `{"type":"ping"}`, textOn, `{"type":"tomorrow","x":1}`, textIs, textOff, delta(`"end_turn"`, `{"output_tokens":4}`), stop),
			"unknown delta":                     typed(start, textOn, textIs, `{"type":"content_block_delta","index":0,"delta":{"type":"tomorrow_delta","x":1}}`, textOff, delta(`"end_turn"`, `{"output_tokens":4}`), stop),
			"no terminal event":                 typed(start, textOn, textIs, textOff, end),
			"no stop reason, no terminal event": typed(start, textOn, textIs, textOff),
			"cut inside the arguments":          typed(start, useOn, useA),
			"cut inside an event":               typed(start, textOn, textIs) + "event: content_block_stop\ndata: {\"type\":\"content_bl",
			"arguments cut by the limit":        typed(start, textOn, textIs, textOff, useOn, useA, useOff, delta(`"max_tokens"`, `{"output_tokens":9}`), stop),
			"arguments that are no JSON":        typed(start, textOn, textOff, useOn, `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"city=Paris"}}`, useOff, end, stop),
			"call without arguments":            typed(start, textOn, textOff, useOn, useOff, end, stop),
			"error inside":                      typed(start, textOn, textIs, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
			"unknown stop reason":               typed(start, textOn, textIs, textOff, delta(`"bored"`, `{"output_tokens":4}`), stop),
			"null stop reason":                  typed(start, textOn, textIs, textOff, delta(`null`, `{"output_tokens":4}`), stop),
			"usage that grows, twice":           typed(start, textOn, textIs, textOff, delta(`null`, `{"output_tokens":4}`), delta(`"end_turn"`, `{"output_tokens":9}`), stop),
			"usage told anew at the end":        typed(start, textOn, textIs, textOff, delta(`"end_turn"`, `{"input_tokens":50,"cache_read_input_tokens":6,"output_tokens":9}`), stop),
			"interleaved calls":                 typed(start, strings.Replace(useOn, `"index":1`, `"index":0`, 1), strings.NewReplacer(`toolu_1`, `toolu_2`).Replace(useOn), strings.Replace(useA, `"index":1`, `"index":0`, 1), useA, strings.Replace(useB, `"index":1`, `"index":0`, 1), useB, textOff, useOff, end, stop),
			"event whose data is no JSON":       typed(start, textOn, textIs) + "event: content_block_delta\ndata: oops\n\n" + typed(textOff, delta(`"end_turn"`, `{"output_tokens":4}`), stop),
			"one id for two calls":              typed(start, strings.Replace(useOn, `"index":1`, `"index":0`, 1), textOff, useOn, useOff, end, stop),
		},
		errors: map[string]string{
			"an error":      `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"},"request_id":"req_1"}`,
			"an empty body": ``,
		},
	}
}
