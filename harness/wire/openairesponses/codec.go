// Package openairesponses is the codec of OpenAI's Responses API.
//
// The API speaks in items; the neutral form in turns. So:
//
//   - "instructions" is Request.System. Several blocks there are sent as one
//     text, a blank line between them.
//   - Consecutive items of the assistant (reasoning, message, function_call,
//     provider-run tools, references) are one neutral message; consecutive
//     outputs (function_call_output and its like) are one message of RoleUser.
//     Messages of other roles are a message each.
//   - max_output_tokens is Request.MaxTokens. A request with previous_response_id
//     or conversation is one that Continues.
//   - A function call's ID is its call_id; the item's own id and status are in
//     Extra. Of a message of the assistant they are in the Extra of its first
//     block under "#item", which also marks where one message item ends and the
//     next begins. A part of such a message that is no text is an opaque block
//     with "#part" in Extra; any other opaque block is a whole item.
//   - Reasoning items are kept whole in Raw, so that encrypted_content and ids
//     come back unchanged. So are custom_tool_call items, whose input is free
//     text: it is in ArgsText.
//
// The raw stop reason is the status, with the reason of an incomplete answer
// after a colon: completed, incomplete:max_output_tokens.
package openairesponses

import (
	"github.com/retake-harness/retake/harness/wire"
)

// Codec is the codec; its zero value is ready.
type Codec struct{}

var _ wire.Codec = Codec{}

// API is wire.OpenAIResponses.
func (Codec) API() wire.API { return wire.OpenAIResponses }

// Path is the same for every model: the base URL ends in /v1.
func (Codec) Path(string, bool) string { return "/responses" }

// Names under which a block's Extra keeps what belongs to the item around it.
const (
	ofItem = "#item"
	isPart = "#part"
)
