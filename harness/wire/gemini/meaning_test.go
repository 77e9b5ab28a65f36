package gemini_test

import (
	"strings"

	"github.com/retake-harness/retake/harness/wire/wiretest"
)

const plain = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`

func with(rest string) string { return strings.TrimSuffix(plain, "}") + "," + rest + "}" }

func replace(s, from, to string) string { return strings.Replace(s, from, to, 1) }

func history(args, response string) string {
	return `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"t","args":` + args +
		`},"thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"name":"t","response":` + response + `}}]}]}`
}

func identified(call, result string) string {
	s := replace(history(`{"a":1,"b":2}`, `{"output":"r"}`), `{"functionCall":{`, `{"functionCall":{"id":"`+call+`",`)
	return replace(s, `{"functionResponse":{`, `{"functionResponse":{"id":"`+result+`",`)
}

const tool = `"tools":[{"functionDeclarations":[{"name":"t","description":"d","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}}]}]`

var requests = []wiretest.Request{
	{Why: "the least", Body: `{}`},
	{Why: "names in snake_case", Body: `{"system_instruction":{"parts":{"text":"s"}},"contents":{"parts":{"text":"hi"}},"generation_config":{"max_output_tokens":9,"temperature":1},"tool_config":{"function_calling_config":{"mode":"ANY","allowed_function_names":["t"]}},"tools":[{"function_declarations":[{"name":"t"}]}]}`},
	{Why: "bytes in a part, and a note beside a message", Body: `{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}}],"x":1}]}`},
	{Why: "a provider's tool among functions, in one entry and in its own", Body: `{"contents":[],"tools":[{"functionDeclarations":[{"name":"a"}],"googleSearch":{}},{"functionDeclarations":[{"name":"b","parametersJsonSchema":{"type":"object"},"response":{"type":"STRING"}}]},{"codeExecution":{}}]}`},
	{Why: "a function declared with both schemas", Body: `{"contents":[],"tools":[{"functionDeclarations":[{"name":"a","parameters":{"type":"object"},"parametersJsonSchema":{"type":"object"}}]}]}`},
	{Why: "several allowed functions", Body: with(`"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["a","b"]},"retrievalConfig":{"languageCode":"de"}}`)},
	{Why: "a mode of tomorrow, and no mode", Body: with(`"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["a"]}}`)},
	{Why: "allowed functions without a mode", Body: with(`"toolConfig":{"functionCallingConfig":{"allowedFunctionNames":["a","b"]}}`)},
	{Why: "responses of all forms", Body: `{"contents":[{"role":"function","parts":[{"functionResponse":{"id":"1","name":"t","response":{"output":"x"}}},{"functionResponse":{"name":"t","response":{"error":{"code":1}}}},{"functionResponse":{"name":"t"}},{"functionResponse":{"name":"t","response":{"a":1},"parts":[{"inlineData":{}}],"scheduling":"IDLE"}},{"functionResponse":{"name":"t","parts":[{"inlineData":{}}]}},{"functionResponse":{"name":"t","response":null}}]}]}`},
	{Why: "fields that this package does not know", Body: with(`"labels":{"b":"1","a":"2"},"store":true,"generationConfig":{ "seed" : 1 }`)},
	{Why: "signatures and thoughts in the history", Body: `{"contents":[{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"text":"x","thought_signature":"c2ln"},{"functionCall":{"name":"t"},"thought":true}]}]}`},
}

var same = [][]wiretest.Request{
	{
		{Body: plain},
		{Why: "no role is the user's", Body: `{"contents":[{"parts":[{"text":"hi"}]}]}`},
		{Why: "one instead of a list", Body: `{"contents":{"role":"user","parts":{"text":"hi"}}}`},
		{Why: "order and white space are nothing", Body: `{ "contents" : [ { "parts": [ {"text":"hi"} ], "role":"user" } ] }`},
		{Why: "defaults spelled out", Body: with(`"generationConfig":{"candidateCount":1},"safetySettings":[],"tools":[],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}`)},
	},
	{
		{Body: `{"contents":[],"systemInstruction":{"parts":[{"text":"s"}]},"generationConfig":{"maxOutputTokens":9,"temperature":0.5}}`},
		{Why: "snake_case, and a role that says nothing", Body: `{"contents":[],"system_instruction":{"role":"user","parts":[{"text":"s"}]},"generation_config":{"temperature":0.5,"max_output_tokens":9}}`},
	},
	{
		{Body: history(`{"a":1,"b":2}`, `{"output":"r"}`)},
		{Why: "the spelling of arguments is nothing", Body: history(`{ "b":2,"a":1}`, `{"output":"r"}`)},
		{Why: "ids that only repeat the order", Body: identified("x", "x")},
		{Why: "the old role of results", Body: replace(history(`{"a":1,"b":2}`, `{"output":"r"}`), `{"role":"user","parts":[{"functionResponse"`, `{"role":"function","parts":[{"functionResponse"`)},
	},
	{
		{Body: history(`{}`, `{}`)},
		{Why: "no arguments are an empty object", Body: replace(history(`{}`, `{}`), `,"args":{}`, ``)},
	},
	{
		{Body: with(tool)},
		{Why: "functions in one entry or in several", Body: with(strings.Replace(tool, "functionDeclarations", "function_declarations", 1))},
	},
}

var different = [][]wiretest.Request{
	{
		{Body: plain},
		{Why: "a word", Body: replace(plain, "hi", "ho")},
		{Why: "a role", Body: replace(plain, "user", "model")},
		{Why: "the model", Path: "/v1beta/models/other:generateContent", Body: plain},
		{Why: "streaming", Path: "/v1beta/models/test-model:streamGenerateContent?alt=sse", Body: plain},
		{Why: "one more part", Body: replace(plain, `{"text":"hi"}`, `{"text":"hi"},{"text":"hi"}`)},
		{Why: "a thought", Body: replace(plain, `"hi"`, `"hi","thought":true`)},
		{Why: "the limit", Body: with(`"generationConfig":{"maxOutputTokens":9}`)},
		{Why: "a parameter", Body: with(`"generationConfig":{"temperature":0.5}`)},
		{Why: "its value", Body: with(`"generationConfig":{"temperature":0.6}`)},
		{Why: "a system text", Body: with(`"systemInstruction":{"parts":[{"text":"s"}]}`)},
		{Why: "a tool", Body: with(tool)},
		{Why: "its description", Body: with(replace(tool, `"d"`, `"e"`))},
		{Why: "its schema", Body: with(replace(tool, `"a"`, `"b"`))},
		{Why: "a provider's tool", Body: with(`"tools":[{"googleSearch":{}}]`)},
		{Why: "any tool", Body: with(`"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`)},
		{Why: "one tool", Body: with(`"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["t"]}}`)},
		{Why: "two tools", Body: with(`"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["t","u"]}}`)},
	},
	{
		{Body: history(`{"n":1}`, `{"output":"r"}`)},
		{Why: "an argument", Body: history(`{"n":2}`, `{"output":"r"}`)},
		{Why: "a result", Body: history(`{"n":1}`, `{"output":"s"}`)},
		{Why: "an error", Body: history(`{"n":1}`, `{"error":"r"}`)},
		{Why: "another shape of result", Body: history(`{"n":1}`, `{"result":"r"}`)},
		{Why: "ids that do not agree", Body: replace(identified("x", "y"), `{"a":1,"b":2}`, `{"n":1}`)},
		{Why: "a signature", Body: replace(history(`{"n":1}`, `{"output":"r"}`), "c2ln", "c2lo")},
	},
}
