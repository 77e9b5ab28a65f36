// Package openaichat is the codec of OpenAI's Chat Completions API, as OpenAI
// and the many servers that copy it speak it.
//
// Where the neutral form has no word of its own:
//
//   - System and developer messages stay messages with their role. A
//     Request.System, which this API does not have, is sent as one system
//     message a block.
//   - Consecutive messages of role "tool" are one neutral message of RoleUser
//     with a tool_result block each, and the other way round. The legacy role
//     "function" stays in the result's Extra.
//   - max_tokens is Request.MaxTokens; max_completion_tokens is a parameter like
//     any other and travels in Params, so that either can be sent.
//   - A tool's Extra are members of its "function" object (strict); what stands
//     beside "function" is kept in Extra under "#tool". A call's Extra are the
//     members beside its "function". A tool choice that the modes cannot say is
//     kept whole in ToolChoice.Extra and sent as it came.
//   - What servers call reasoning_content, reasoning, reasoning_details and so on
//     is one reasoning block in front, whose Raw is an object of those members;
//     a reasoning part of the content (Mistral) has the part as its Raw. A legacy
//     function_call is a tool call whose Raw is {"function_call":…}.
//   - Response.Extra has the answer's own further members; those of the first
//     choice and of its message are in it as "#choice" and "#message", so that
//     the message can be sent back without them.
//
// The finish reason "stop" beside tool calls counts as tool_calls: OpenAI says
// "stop" when tool_choice names a function, and some servers always do. Beside a
// refusal it counts as refused.
package openaichat

import (
	"github.com/retake-harness/retake/harness/wire"
)

// Codec is the codec; its zero value is ready.
type Codec struct{}

var _ wire.Codec = Codec{}

// API is wire.OpenAIChat.
func (Codec) API() wire.API { return wire.OpenAIChat }

// Path is the same for every model: the base URL ends in /v1.
func (Codec) Path(string, bool) string { return "/chat/completions" }

// Names under which Extra keeps what belongs elsewhere. No API's member begins
// with "#".
const (
	besideFunction = "#tool"
	ofChoice       = "#choice"
	ofMessage      = "#message"
)
