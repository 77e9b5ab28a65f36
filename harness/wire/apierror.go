package wire

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// ReadError reads the body of a failed attempt. Providers, gateways and proxies
// word errors differently ({"error":{…}}, {"error":"…"}, {"message":"…"}, a list
// of one, HTML), so it takes what is there and never fails: without a type the
// error has the type "http_" and its status, without a message the body's
// beginning.
func ReadError(status int, body []byte) *APIError {
	e := &APIError{Status: status}
	text := body
	if sse.Is("", body) {
		s := sse.NewScanner(body)
		event, _ := s.Next()
		text = event.Data
	}
	if rawjson.Valid(text) {
		c := rawjson.New(text)
		e.read(&c)
	}
	if e.Type == "" {
		e.Type = "http_" + strconv.Itoa(status)
	}
	if e.Message == "" {
		e.Message = beginning(strings.TrimSpace(string(body)))
	}
	return e
}

// Unreadable is the error for a body that is no answer of the API at all.
func Unreadable(api API, body []byte, what string) error {
	return failure.Errorf(failure.Protocol, "%s: reading the answer: %s: %q", api, what, beginning(string(body)))
}

// longestExcerpt is how much of an unreadable error body is told.
const longestExcerpt = 200

func beginning(s string) string {
	if len(s) > longestExcerpt {
		s = strings.ToValidUTF8(s[:longestExcerpt], "") + "…"
	}
	return s
}

// read takes an error object; an inner "error" object counts more than its
// surroundings. Of type, status and code the first that is a word is the type.
func (e *APIError) read(c *rawjson.Cursor) {
	switch c.Kind() {
	case '[':
		for c.Array(); c.More(); {
			e.read(c)
		}
	case '"':
		e.Message = c.Text()
	case '{':
		e.readObject(c)
	default:
		c.Value()
	}
}

func (e *APIError) readObject(c *rawjson.Cursor) {
	var kind, status, code, rawCode, message string
	inner, nested := APIError{}, false
	for c.Object(); c.More(); {
		switch string(c.Name()) {
		case "error":
			inner.read(c)
			nested = true
		case "type":
			kind = word(c)
		case "status":
			status = word(c)
		case "code":
			v := c.Value()
			code, rawCode = wordOf(v), codeOf(v)
		case "message", "detail", "error_description":
			message = word(c)
		default:
			c.Value()
		}
	}
	e.Type = first(inner.Type, kind, status, code)
	e.Kind, e.Code = kind, rawCode
	if nested {
		e.Kind, e.Code = inner.Kind, inner.Code
	}
	if !nested && e.Status >= 400 {
		e.Kind, e.Code = "", "" // a failed answer's own members, no error object
	}
	if inner == (APIError{}) && message == "" {
		e.Type = first(status, code) // "type" alone is what every object has
	}
	e.Message = first(inner.Message, message)
}

func word(c *rawjson.Cursor) string { return wordOf(c.Value()) }

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// codeOf is a code, which some providers write as a number.
func codeOf(v jsontext.Value) string {
	if _, ok := rawjson.Int(v); ok {
		return string(v)
	}
	return wordOf(v)
}

func wordOf(v jsontext.Value) string {
	s, _ := rawjson.Text(v)
	return s
}
