package anthropic_test

// benchAnswer and benchStream are about 1 KB of an answer with a text and a call.
const benchAnswer = `{"id":"msg_01AbCdEfGhIjKlMnOpQrStUv","type":"message","role":"assistant","model":"claude-opus-4-8","content":[{"type":"text","text":"I'll look up the weather in both cities and then compare them, so that you know where you need an umbrella tomorrow and where you do not. The forecast comes from the service that you named; when it has nothing for a city I will say so instead of guessing. After that I book the train that leaves after nine, as you asked."},{"type":"tool_use","id":"toolu_01AbCdEfGhIjKlMnOpQrSt","name":"get_weather","input":{"city":"Paris","date":"2026-07-14","units":"metric","hours":[6,9,12,15,18,21]}},{"type":"tool_use","id":"toolu_02AbCdEfGhIjKlMnOpQrSt","name":"get_weather","input":{"city":"London","date":"2026-07-14","units":"metric","hours":[6,9,12,15,18,21]}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":812,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":143,"service_tier":"standard"}}`

var benchStream = []string{
	start, textOn, text("I'll look up the weather in both cities "), text("and then compare them."), textOff,
	call("1", "toolu_01AbCdEfGhIjKlMnOpQrSt", `""`, `"{\"city\": \"Par"`, `"is\"}"`), end(`"tool_use"`),
}
