package openai

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// SetArgs gives the call the arguments that came as text, and tells what is
// wrong with them, if anything.
//
// Valid JSON becomes Args; if it is no object, the problem says so. Anything
// else leaves Args nil and the text in ArgsText. Empty text is what several
// servers send for a call without parameters: it stays as it came, Args nil and
// ArgsText empty, and is a problem only when the answer was cut.
func SetArgs(b *wire.Block, text string, cut bool) (kind wire.ProblemKind, bad bool) {
	if strings.TrimSpace(text) == "" {
		b.ArgsText = text
		return wire.ProblemArgsCut, cut
	}
	raw := []byte(text)
	if rawjson.Valid(raw) {
		b.Args = jsontext.Value(raw)
		return wire.ProblemArgsInvalid, !IsObject(raw)
	}
	b.ArgsText = text
	if endsEarly(raw) {
		return wire.ProblemArgsCut, true
	}
	return wire.ProblemArgsInvalid, true
}

// endsEarly tells whether text could become JSON by going on.
func endsEarly(text []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, err := d.ReadValue()
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// Arguments are a call's arguments as they travel: as text.
func Arguments(b *wire.Block) string {
	if b.Args != nil {
		return string(b.Args)
	}
	return b.ArgsText
}

// DuplicateIDs adds a problem for each call whose id an earlier one has.
func DuplicateIDs(r *wire.Response) {
	blocks := r.Message.Blocks
	for i := range blocks {
		if blocks[i].Kind != wire.KindToolCall || blocks[i].ID == "" {
			continue
		}
		for j := range i {
			if blocks[j].Kind == wire.KindToolCall && blocks[j].ID == blocks[i].ID {
				r.Problems = append(r.Problems, wire.Problem{Kind: wire.ProblemDuplicateID, Block: i, Detail: blocks[i].ID})
				break
			}
		}
	}
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
	w.Value("code", jsontext.Value("null"))
	w.Close('}')
	w.Close('}')
	return w.B
}
