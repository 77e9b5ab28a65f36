package anthropic

import (
	"strconv"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// EncodeResponse implements wire.Codec. A raw stop reason or usage that is there
// is written as it is, else it is made from the neutral one. A stream whose
// Problems say so is written without its terminal event.
func (Codec) EncodeResponse(dst []byte, r *wire.Response, stream bool) ([]byte, error) {
	if r.Err != nil && (!stream || r.Err.Status >= 400) {
		return appendError(dst, r.Err), nil
	}
	if stream {
		return appendStream(dst, r), nil
	}
	dst = appendHead(dst, r)
	dst = appendBlocks(append(dst, `,"content":`...), r.Message.Blocks)
	dst = appendStop(append(dst, `,"stop_reason":`...), r)
	if rawjson.Get(r.Extra, "stop_sequence") == nil {
		dst = append(dst, `,"stop_sequence":null`...)
	}
	if hasUsage(r) {
		dst = appendUsage(append(dst, `,"usage":`...), r)
	}
	return append(rawjson.Splice(dst, r.Extra), '}'), nil
}

// appendHead begins a message object.
func appendHead(dst []byte, r *wire.Response) []byte {
	role := r.Message.Role
	if role == "" {
		role = wire.RoleAssistant
	}
	dst = rawjson.Quote(append(dst, `{"id":`...), r.ID)
	dst = rawjson.Quote(append(dst, `,"type":"message","role":`...), role)
	return rawjson.Quote(append(dst, `,"model":`...), r.Model)
}

func appendError(dst []byte, e *wire.APIError) []byte {
	dst = rawjson.Quote(append(dst, `{"type":"error","error":{"type":`...), e.Type)
	dst = rawjson.Quote(append(dst, `,"message":`...), e.Message)
	return append(dst, "}}"...)
}

// figures are what the usage is made from when there is no raw one.
func figures(r *wire.Response) wire.Usage {
	if r.Reported != (wire.Usage{}) {
		return r.Reported
	}
	return r.Usage
}

func hasUsage(r *wire.Response) bool {
	return r.RawUsage != nil || figures(r) != wire.Usage{}
}

func appendUsage(dst []byte, r *wire.Response) []byte {
	if r.RawUsage != nil {
		return append(dst, r.RawUsage...)
	}
	u := figures(r)
	dst = append(dst, '{')
	first := len(dst)
	for _, f := range [...]struct {
		name string
		n    *int64
	}{
		{"input_tokens", u.Input},
		{"cache_creation_input_tokens", u.CacheWrite},
		{"cache_read_input_tokens", u.CacheRead},
		{"output_tokens", u.Output},
	} {
		if f.n != nil {
			dst = append(rawjson.Quote(comma(dst, len(dst)-first), f.name), ':')
			dst = strconv.AppendInt(dst, *f.n, 10)
		}
	}
	if u.Reasoning != nil {
		dst = append(comma(dst, len(dst)-first), `"output_tokens_details":{"thinking_tokens":`...)
		dst = append(strconv.AppendInt(dst, *u.Reasoning, 10), '}')
	}
	return append(dst, '}')
}
