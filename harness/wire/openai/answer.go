package openai

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
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
	if Valid(raw) {
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

// maxMessage bounds the text that is kept of an error body that is no JSON.
const maxMessage = 400

// ErrorBody reads the body of a failed request, whatever its shape:
// {"error":{…}}, {"error":"text"}, {"message":…,"code":…}, {"detail":…}, an array
// around one of them (Google), or no JSON at all. Its Type is then http-<status>.
func ErrorBody(status int, body []byte) *wire.APIError {
	body = bytes.TrimSpace(body)
	if Valid(body) {
		if IsArray(body) {
			a := Elements(body)
			body, _ = a.Next()
		}
		if e := Error(status, body); e != nil {
			return e
		}
	}
	text := body[:min(len(body), maxMessage)]
	return &wire.APIError{Status: status, Type: "http-" + strconv.Itoa(status), Message: strings.ToValidUTF8(string(text), "")}
}

// Error reads the error that a valid JSON object tells of, nil when it tells of
// none. A member "error" that is null, false or empty tells of none.
func Error(status int, v jsontext.Value) *wire.APIError {
	var inner, message, detail, code, kind jsontext.Value
	for o := Members(v); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		switch string(name) {
		case "error":
			inner = value
		case "message":
			message = value
		case "detail":
			detail = value
		case "code":
			code = value
		case "type":
			kind = value
		}
	}
	switch {
	case IsObject(inner):
		return errorObject(status, inner)
	case IsString(inner) && !IsEmpty(inner):
		return &wire.APIError{Status: status, Type: scalar(code), Message: TextOf(inner)}
	case IsString(message):
		return &wire.APIError{Status: status, Type: scalar(kind, code), Message: TextOf(message)}
	case !IsEmpty(detail):
		return &wire.APIError{Status: status, Type: scalar(kind, code), Message: scalar(detail)}
	}
	return nil
}

// InBody reads the error inside an answer of status 200. Only the member
// "error" counts there: a message is the usual thing to find in an answer.
func InBody(status int, v jsontext.Value) *wire.APIError {
	switch inner := Get(v, "error"); {
	case IsObject(inner):
		return errorObject(status, inner)
	case IsString(inner) && !IsEmpty(inner):
		return &wire.APIError{Status: status, Message: TextOf(inner)}
	}
	return nil
}

func errorObject(status int, v jsontext.Value) *wire.APIError {
	e := &wire.APIError{Status: status, Type: scalar(Get(v, "type"), Get(v, "code"), Get(v, "status"))}
	e.Message = TextOf(Get(v, "message"))
	if e.Type == "" && e.Message == "" {
		e.Message = string(v)
	}
	return e
}

// scalar is the first value that says something: a string's text, or whatever
// else as written.
func scalar(values ...jsontext.Value) string {
	for _, v := range values {
		if s, ok := Text(v); ok && s != "" {
			return s
		} else if !ok && !IsNull(v) {
			return string(bytes.TrimSpace(v))
		}
	}
	return ""
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
