package anthropic_test

import (
	"strings"

	"github.com/retake-harness/retake/harness/wire/wiretest"
)

func replace(s, from, to string) string { return strings.Replace(s, from, to, 1) }

const plain = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`

func with(rest string) string {
	return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],` + rest + `}`
}

func history(id, args, result string) string {
	return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"` + id +
		`","name":"t","input":` + args + `}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":` + result + `}]}]}`
}

var requests = []wiretest.Request{
	{Why: "the least", Body: `{"model":"m","messages":[]}`},
	{Why: "texts of all forms", Body: `{"model":"m","max_tokens":9,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"text":"b","type":"text"}]}]}`},
	{Why: "an image is opaque, its bytes are kept", Body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}]}`},
	{Why: "a result without content, one with blocks, one that failed", Body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"x"},{"type":"image","source":{}}]},{"type":"tool_result","tool_use_id":"c","content":"","is_error":true}]}]}`},
	{Why: "a provider's tool among the client's", Body: with(`"tools":[{"name":"t","input_schema":{"type":"object"},"strict":true},{"type":"web_search_20250305","name":"web_search","max_uses":2}]`)},
	{Why: "fields that this package does not know", Body: with(`"output_config":{"effort": "high"},"new_field":[1.0],"service_tier":"auto"`)},
	{Why: "a limit that is no number", Body: `{"model":"m","max_tokens":0.5,"messages":[]}`},
	{Why: "a message with members of its own", Body: `{"model":"m","messages":[{"role":"user","content":"hi","note":{"b":1,"a":2}}]}`},
	{Why: "arguments that are a text", Body: history("a", `"{\"cut\":"`, `"r"`)},
}

var same = [][]wiretest.Request{
	{
		{Body: plain},
		{Why: "a string is one text block", Body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`},
		{Why: "order and white space are nothing", Body: `{ "messages" : [ { "content":"hi", "role":"user" } ], "max_tokens" : 9, "model" : "m" }`},
		{Why: "escapes are nothing", Body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"\u0068i"}]}`},
		{Why: "defaults spelled out", Body: with(`"stream":false,"temperature":1.0,"stop_sequences":[],"service_tier":"auto","metadata":{},"tool_choice":{"type":"auto"},"thinking":{"type":"disabled"},"top_p":null,"system":null,"tools":[]`)},
		{Why: "members that are null", Body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":null}]}]}`},
	},
	{
		{Body: history("toolu_1", `{"a":1,"b":[2]}`, `"r"`)},
		{Why: "ids are nothing, as long as they agree", Body: history("toolu_2", `{"a":1,"b":[2]}`, `"r"`)},
		{Why: "the spelling of arguments is nothing", Body: history("toolu_1", `{ "b":[2], "a":1 }`, `"r"`)},
		{Why: "a result as one block", Body: history("toolu_1", `{"a":1,"b":[2]}`, `[{"type":"text","text":"r"}]`)},
		{Why: "no error, spelled out; a direct caller, spelled out", Body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"t","input":{"a":1,"b":[2]},"caller":{"type":"direct"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"r","is_error":false}]}]}`},
	},
	{
		{Body: with(`"tools":[{"name":"t","description":"d","input_schema":{"type":"object","required":["a"]}}]`)},
		{Why: "a tool's defaults spelled out", Body: with(`"tools":[{"type":"custom","name":"t","description":"d","input_schema":{"required":["a"],"type":"object"},"strict":false,"cache_control":null}]`)},
	},
	{
		{Body: with(`"cache_control":{"type":"ephemeral"},"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]`)},
		{Why: "five minutes is the default", Body: with(`"cache_control":{"type":"ephemeral"},"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"5m"}}]`)},
	},
}

var different = [][]wiretest.Request{
	{
		{Body: plain},
		{Why: "a word", Body: replace(plain, `"hi"`, `"ho"`)},
		{Why: "a role", Body: replace(plain, `"user"`, `"assistant"`)},
		{Why: "the model", Body: replace(plain, `"m"`, `"n"`)},
		{Why: "the limit", Body: replace(plain, `9`, `8`)},
		{Why: "one more block", Body: replace(plain, `"hi"`, `[{"type":"text","text":"hi"},{"type":"text","text":"hi"}]`)},
		{Why: "one more message", Body: replace(plain, `[{`, `[{"role":"user","content":"hi"},{`)},
		{Why: "streaming", Body: with(`"stream":true`)},
		{Why: "a parameter", Body: with(`"temperature":0.5`)},
		{Why: "its value", Body: with(`"temperature":0.6`)},
		{Why: "a system text", Body: with(`"system":"s"`)},
		{Why: "a tool", Body: with(`"tools":[{"name":"t","input_schema":{"type":"object"}}]`)},
		{Why: "its description", Body: with(`"tools":[{"name":"t","description":"d","input_schema":{"type":"object"}}]`)},
		{Why: "its schema", Body: with(`"tools":[{"name":"t","input_schema":{"type":"object","required":["a"]}}]`)},
		{Why: "strictness", Body: with(`"tools":[{"name":"t","input_schema":{"type":"object"},"strict":true}]`)},
		{Why: "any tool", Body: with(`"tool_choice":{"type":"any"}`)},
		{Why: "one tool", Body: with(`"tool_choice":{"type":"tool","name":"t"}`)},
		{Why: "no parallel calls", Body: with(`"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`)},
	},
	{
		{Body: history("a", `{"n":1}`, `"r"`)},
		{Why: "an argument", Body: history("a", `{"n":2}`, `"r"`)},
		{Why: "how a number is written", Body: history("a", `{"n":1.0}`, `"r"`)},
		{Why: "a result", Body: history("a", `{"n":1}`, `"s"`)},
		{Why: "an error", Body: history("a", `{"n":1}`, `"r","is_error":true`)},
		{Why: "a result for another call", Body: replace(history("a", `{"n":1}`, `"r"`), `"tool_use_id":"a"`, `"tool_use_id":"b"`)},
		{Why: "arguments as a text", Body: history("a", `"{\"n\":1}"`, `"r"`)},
	},
}
