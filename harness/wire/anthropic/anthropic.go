// Package anthropic speaks the Messages API: requests, answers in JSON and as
// an event stream, both ways.
//
// Facts that shape it: the usage in a message_delta is cumulative and lays
// itself over message_start's; tool input is JSON only when its block stops;
// servers that imitate the API leave out event lines, so the type is read from
// the data; server tools are not the client's calls.
package anthropic

import "github.com/retake-harness/retake/harness/wire"

// Codec is the wire.Codec of the Messages API.
type Codec struct{}

var _ wire.Codec = Codec{}

// API is wire.AnthropicMessages.
func (Codec) API() wire.API { return wire.AnthropicMessages }

// Path ignores its arguments: model and stream are in the body.
func (Codec) Path(string, bool) string { return "/v1/messages" }

// The types of blocks that have a neutral kind; all others are opaque.
const (
	typeText       = "text"
	typeToolUse    = "tool_use"
	typeToolResult = "tool_result"
	typeThinking   = "thinking"
	typeRedacted   = "redacted_thinking"
)
