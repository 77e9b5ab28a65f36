package openai

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// SetArgs is wire.ReadArgs but for an empty text, which several servers send for
// a call without parameters: it stays as it came, Args nil and ArgsText empty,
// and is a problem only when the answer was cut.
func SetArgs(b *wire.Block, text []byte, cut bool) wire.ProblemKind {
	if len(bytes.TrimSpace(text)) > 0 {
		return wire.ReadArgs(b, text)
	}
	b.Args, b.ArgsText = nil, string(text)
	if cut {
		return wire.ProblemArgsCut
	}
	return ""
}

// Arguments are a call's arguments as they travel: as text.
func Arguments(b *wire.Block) string {
	if b.Args != nil {
		return string(b.Args)
	}
	return b.ArgsText
}

// Finished is why an answer ended whose server says no more than that it did:
// for its calls, with a refusal, or done.
func Finished(blocks []wire.Block) wire.Stop {
	out := wire.StopDone
	for i := range blocks {
		switch blocks[i].Kind {
		case wire.KindToolCall:
			return wire.StopToolCalls
		case wire.KindRefusal:
			out = wire.StopRefused
		default: // says nothing about the end
		}
	}
	return out
}

// Neutral is the neutral accounting of reported figures: cached tokens are taken
// out of the input; reasoning that the provider counted beside the output (xAI's
// chat API does) is added to it.
func Neutral(reported wire.Usage, reasoningApart bool) wire.Usage {
	u := reported
	if u.Input != nil && (u.CacheRead != nil || u.CacheWrite != nil) {
		n := max(0, *u.Input-Value(u.CacheRead)-Value(u.CacheWrite))
		u.Input = &n
	}
	if u.Output != nil && u.Reasoning != nil && reasoningApart {
		n := *u.Output + *u.Reasoning
		u.Output = &n
	}
	return u
}

// Value is a figure, 0 when it was not reported.
func Value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// InBody reads the error inside an answer or event whose status is 200: its
// member "error", an object or a text. A code that is a number is told as a
// status is, http_400.
func InBody(status int, v jsontext.Value) *wire.APIError {
	inner := rawjson.Get(v, "error")
	if !IsObject(inner) && (!IsString(inner) || IsEmpty(inner)) {
		return nil
	}
	e := wire.ReadError(status, inner)
	if n := Int(rawjson.Get(inner, "code")); n != nil && e.Type == "http_"+strconv.Itoa(status) {
		e.Type = "http_" + strconv.FormatInt(*n, 10)
	}
	return e
}

// AppendError appends an error body as OpenAI sends it.
func AppendError(dst []byte, e *wire.APIError) []byte {
	w := Writer{B: dst}
	w.Begin('{')
	w.Name("error")
	w.Begin('{')
	w.Text("message", e.Message)
	if e.Type == "" {
		w.Value("type", jsontext.Value("null"))
	} else {
		w.Text("type", e.Type)
	}
	w.Value("param", jsontext.Value("null"))
	if e.Code == "" {
		w.Value("code", jsontext.Value("null"))
	} else {
		w.Text("code", e.Code)
	}
	w.Close('}')
	w.Close('}')
	return w.B
}
