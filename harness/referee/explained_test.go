package referee_test

// explanation is why a codec and an SDK may differ. Each line of at is a name of
// a fixture or recording, then a colon, then the fields that differ, as
// difference.kind has them.
type explanation struct {
	why string
	at  []string
}

// explanations are all differences there are.
func explanations() []explanation {
	return []explanation{
		{
			why: "the SDK gives no error for a stream without its terminal event; the codec says that it is incomplete",
			at: []string{
				"anthropic-messages, stream: no terminal event: failed only for the codec",
				"anthropic-messages, stream: no stop reason, no terminal event: failed only for the codec",
				"anthropic-messages, stream: cut inside an event: failed only for the codec",
				"openai-chat, stream: no [DONE]: failed only for the codec",
				"openai-chat, stream: no finish reason, no [DONE]: failed only for the codec",
				"openai-chat, stream: cut inside the arguments: failed only for the codec",
				"openai-chat, stream: cut inside an event: failed only for the codec",
				"openai-responses, stream: no terminal event: failed only for the codec",
				"openai-responses, stream: cut inside an event: failed only for the codec",
				"gemini, stream: no finish reason: failed only for the codec",
			},
		},
		{
			why: "the SDK gives no error for a body in which it finds no event, or nothing at all",
			at: []string{
				"anthropic-messages, stream: empty body: failed only for the codec",
				"anthropic-messages, stream: HTML page with status 200: failed only for the codec",
				"openai-chat, stream: empty body: failed only for the codec",
				"openai-chat, stream: HTML page with status 200: failed only for the codec",
				"openai-responses, stream: empty body: failed only for the codec",
				"openai-responses, stream: HTML page with status 200: failed only for the codec",
				"gemini, stream: empty body: failed only for the codec",
				"gemini, JSON: empty body: failed only for the codec",
			},
		},
		{
			why: "the SDK takes an error object with status 200 for an answer without content",
			at: []string{
				"anthropic-messages, JSON: error with status 200: failed only for the codec",
				"openai-chat, JSON: error with status 200: failed only for the codec",
				"openai-responses, JSON: error with status 200: failed only for the codec",
				"gemini, JSON: error with status 200: failed only for the codec",
			},
		},
		{
			why: "the SDK passes a failed response and an error event on as ordinary events; the codec has the error instead of a stop",
			at: []string{
				"openai-responses, JSON: failed: failed only for the codec, stop only of the SDK",
				"openai-responses, stream: failed: failed only for the codec, stop only of the SDK",
				"openai-responses, stream: error inside: failed only for the codec",
			},
		},
		{
			why: "the SDK's accumulator puts {} where the arguments are no JSON; the codec keeps what came",
			at: []string{
				"anthropic-messages, stream: arguments cut by the limit: calls differ",
				"anthropic-messages, stream: arguments that are no JSON: calls differ",
			},
		},
		{
			why: "a call that never ended is none to the SDK, and the end of such a stream no error of its; the codec has what came, and the error",
			at: []string{
				"anthropic-messages, stream: cut inside the arguments: calls only of the codec",
				"openai-responses, stream: cut inside the arguments: failed only for the codec, calls only of the codec",
			},
		},
		{
			why: "the SDK gives up at an event whose data is no JSON; both call the answer failed, and the codec has what came after it",
			at: []string{
				"anthropic-messages, stream: event whose data is no JSON: stop only of the codec, output differ",
				"openai-chat, stream: event whose data is no JSON: stop only of the codec",
				"gemini, stream: event whose data is no JSON: calls only of the codec, stop only of the codec, input only of the codec, output only of the codec, cache read only of the codec, reasoning only of the codec",
			},
		},
		{
			why: "the SDK goes by event lines; compatible servers send none, and the data has the type",
			at: []string{
				"anthropic-messages, stream: data without event lines: text only of the codec, calls only of the codec, stop only of the codec, input only of the codec, output only of the codec, cache read only of the codec, cache write only of the codec",
			},
		},
		{
			why: "the SDK drops a last event without its blank line, as the SSE standard has it; the codec reads it, for the answer is whole",
			at: []string{
				"openai-responses, stream: unterminated last event: text only of the codec, stop only of the codec, input only of the codec, output only of the codec, cache read only of the codec, reasoning only of the codec",
			},
		},
		{
			why: "the SDK knows no comments in a stream, which the SSE standard allows",
			at: []string{
				"gemini, stream: comments between events: failed only for the SDK, calls only of the codec, stop only of the codec, input only of the codec, output only of the codec, cache read only of the codec, reasoning only of the codec",
			},
		},
		{
			why: "the SDK always asks for SSE; without alt=sse the API streams one JSON array",
			at: []string{
				"gemini, stream: as a JSON array: failed only for the SDK, text only of the codec, calls only of the codec, stop only of the codec, input only of the codec, output only of the codec, cache read only of the codec, reasoning only of the codec",
				"gemini, stream: array cut after a chunk: text only of the codec",
			},
		},
		{
			why: "the SDK's accumulator concatenates a name that every chunk repeats",
			at:  []string{"openai-chat, stream: id and name in every chunk: calls differ"},
		},
		{
			why: "the SDK's accumulator puts calls of one index together; a new id is a new call",
			at: []string{
				"openai-chat, stream: two calls, both with index 0: calls differ",
				"openai-chat, stream: two calls without index: calls differ",
			},
		},
		{
			why: "the SDK's accumulator adds up usage that is told with every chunk, though it grows; the last one counts",
			at:  []string{"openai-chat, stream: usage with every chunk: input differ, output differ"},
		},
		{
			why: "the SDK's accumulator refuses a chunk whose id is another than the first chunk's; routers in front of several servers send such streams",
			at: []string{
				"charmbracelet+fantasy/providertests/testdata/TestOpenAICompatibleCommon/avian-kimi/multi_tool_streaming.yaml #1: failed only for the SDK, text only of the codec, calls only of the codec, stop only of the codec, input only of the codec, output only of the codec, cache read only of the codec, reasoning only of the codec",
				"charmbracelet+fantasy/providertests/testdata/TestOpenAICompatibleCommon/avian-kimi/multi_tool_streaming.yaml #2: failed only for the SDK, text only of the codec, stop only of the codec, input only of the codec, output only of the codec, cache read only of the codec, reasoning only of the codec",
				"maruel+genai/providers/groq/testdata/TestClient/Scoreboard/groq/compound-mini_thinking/GenStream-Text.yaml #1: failed only for the SDK, text only of the codec, stop only of the codec, input only of the codec, output only of the codec",
			},
		},
		{
			why: "the referee takes choices[0]; the codec takes the choice with index 0",
			at:  []string{"openai-chat, JSON: choices out of order: text differ, stop differ"},
		},
		{
			why: "the SDK has one string for the content and puts the JSON of parts into it",
			at:  []string{"openai-chat, JSON: content in parts: text differ"},
		},
		{
			why: "the SDK has calls of custom tools and legacy calls in members of their own; the referee looks at function calls",
			at: []string{
				"openai-chat, JSON: custom tool: calls differ",
				"openai-chat, JSON: legacy function_call: calls only of the codec",
				"openai-chat, stream: legacy function_call in pieces: calls only of the codec",
			},
		},
		{
			why: "the SDK stops reading at [DONE]; the codec reads all that was received",
			at:  []string{"openai-chat, stream: text and calls after the [DONE]: text differ"},
		},
		{
			why: "the SDK lists one call_id under two item ids twice; it is one call, and one result answers it",
			at: []string{
				"openai-responses, JSON: one call_id under two item ids: calls differ",
				"openai-responses, stream: one call_id under two item ids: calls differ",
			},
		},
		{
			why: "the SDK has arguments as map[string]any: it refuses a list, has null for none, and rounds large numbers",
			at: []string{
				"gemini, JSON: args that are no object: failed only for the SDK, calls only of the codec, stop only of the codec, input only of the codec, output only of the codec, cache read only of the codec, reasoning only of the codec",
				"gemini, JSON: call without args: calls differ",
				"gemini, JSON: number too large for a float: calls differ",
			},
		},
		{
			why: "a blocked prompt has no candidate, so no finish reason; the codec tells the reason of the block as the stop",
			at:  []string{"gemini, JSON: blocked prompt: stop only of the codec"},
		},
	}
}
