// Package codec finds the codec for a request: For by the API's name, Detect by
// the request itself, whichever vendor, gateway or proxy it is addressed to.
package codec

import (
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/anthropic"
	"github.com/retake-harness/retake/harness/wire/gemini"
	"github.com/retake-harness/retake/harness/wire/openaichat"
	"github.com/retake-harness/retake/harness/wire/openairesponses"
)

// For is the codec that speaks the API; false for an API that retake does not.
func For(api wire.API) (wire.Codec, bool) {
	switch api {
	case wire.AnthropicMessages:
		return anthropic.Codec{}, true
	case wire.OpenAIChat:
		return openaichat.Codec{}, true
	case wire.OpenAIResponses:
		return openairesponses.Codec{}, true
	case wire.GeminiGenerate:
		return gemini.Codec{}, true
	}
	return nil, false
}
