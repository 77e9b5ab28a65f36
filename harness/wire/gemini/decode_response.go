package gemini

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// DecodeResponse implements wire.Codec.
func (Codec) DecodeResponse(status int, contentType string, body []byte) (*wire.Response, error) {
	if status >= 400 {
		return &wire.Response{Err: wire.ReadError(status, body), Complete: true}, nil
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	// The body's own look counts more than its label, which recordings lose.
	switch {
	case len(text) > 0 && text[0] == '{':
		return decodeJSON(text)
	case len(text) > 0 && text[0] == '[':
		return decodeArray(text)
	case sse.Is(contentType, body):
		return decodeEvents(body)
	}
	return nil, wire.Unreadable(wire.GeminiGenerate, body, "neither JSON nor an event stream")
}

func decodeJSON(body []byte) (*wire.Response, error) {
	if !rawjson.Valid(body) {
		return nil, wire.Unreadable(wire.GeminiGenerate, body, "invalid JSON")
	}
	a := newAnswer()
	if err := a.chunk(body); err != nil {
		return nil, wire.Unreadable(wire.GeminiGenerate, body, err.Error())
	}
	if !a.known {
		return nil, wire.Unreadable(wire.GeminiGenerate, body, "JSON, but no answer of this API")
	}
	r := a.response()
	r.Complete = true
	return r, nil
}

func decodeEvents(body []byte) (*wire.Response, error) {
	a := newAnswer()
	events := sse.NewScanner(body)
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		if !rawjson.Valid(e.Data) {
			a.bad(e.Data)
			continue
		}
		if err := a.chunk(e.Data); err != nil {
			return nil, wire.Unreadable(wire.GeminiGenerate, e.Data, err.Error())
		}
	}
	return a.streamed(body)
}

// decodeArray reads the elements of a JSON array one by one, because the array
// may be cut.
func decodeArray(body []byte) (*wire.Response, error) {
	a := newAnswer()
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != ']' {
		var v jsontext.Value
		if v, err = d.ReadValue(); err != nil {
			a.bad(body[d.InputOffset():])
			break
		}
		if wrong := a.chunk(v.Clone()); wrong != nil { // the decoder reuses v
			return nil, wire.Unreadable(wire.GeminiGenerate, v, wrong.Error())
		}
	}
	return a.streamed(body)
}
