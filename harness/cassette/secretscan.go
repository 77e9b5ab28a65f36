package cassette

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// leakError says where an exchange has a secret.
type leakError struct{ Name, Where string }

func (s *leakError) Error() string {
	return fmt.Sprintf("%s has the value of the secret %s", s.Where, s.Name)
}

// findSecret looks for known secrets in all parts of an interaction, in the forms
// that they are written in and in those that a reader makes of them: bodies without
// their Content-Encoding, texts of JSON without its escapes, the texts of a stream
// put together from their pieces. nil is none.
func findSecret(v *redact.Values, in *Interaction) *leakError {
	if v == nil {
		return nil
	}
	q, a := &in.Request, &in.Response
	for _, part := range []struct{ where, text string }{
		{"the method of the request", q.Method}, {"the URL of the request", q.URL}, {"the host of the request", q.Host}, {"the status of the answer", a.Status},
	} {
		if name, found := v.Found([]byte(part.text)); found {
			return &leakError{name, part.where}
		}
	}
	for _, part := range []struct {
		where  string
		fields Header
	}{
		{"the request's header", q.Header},
		{"the request's form", q.Form},
		{"the request's trailer", q.Trailer},
		{"the answer's header", a.Header},
		{"the answer's trailer", a.Trailer},
	} {
		if at := secretInFields(v, part.where, part.fields); at != nil {
			return at
		}
	}
	if at := secretInBody(v, "the request's body", q.Header, q.Body); at != nil {
		return at
	}
	return secretInBody(v, "the answer's body", a.Header, a.Body)
}

func secretInFields(v *redact.Values, where string, h Header) *leakError {
	for i, f := range h {
		if name, found := v.Found([]byte(f.Name)); found {
			return &leakError{name, fmt.Sprintf("the name of line %d of %s", i+1, where)}
		}
		if name, found := v.Found([]byte(f.Value)); found {
			return &leakError{name, fmt.Sprintf("%s %q", where, f.Name)}
		}
	}
	return nil
}

func secretInBody(v *redact.Values, where string, h Header, body []byte) *leakError {
	plain, _ := (&Response{Header: h, Body: body}).Plain() // one that was cut off as far as it goes
	if sse.Is(h.Get("Content-Type"), plain) {
		if at := secretInStream(v, where, plain); at != nil {
			return at
		}
	} else if at := secretInJSON(v, where, plain, nil); at != nil {
		return at
	}
	if name, at, found := v.Where(body); found {
		return &leakError{name, fmt.Sprintf("%s, at byte %d,", where, at)}
	}
	if name, found := v.Found(plain); found { // in what is neither
		return &leakError{name, where + ", without its Content-Encoding,"}
	}
	return nil
}

// secretInStream looks at the events one by one, and at what the texts at one place
// of them come to together.
func secretInStream(v *redact.Values, where string, body []byte) *leakError {
	all := streamed{}
	scan := sse.NewScanner(body)
	for n := 1; ; n++ {
		e, ok := scan.Next()
		if !ok {
			break
		}
		var said texts
		if at := secretInJSON(v, where+", event "+strconv.Itoa(n), e.Data, &said); at != nil {
			return at
		}
		all.add(&said)
	}
	for _, key := range sortedKeys(all) {
		if name, found := v.Found(all[key]); found {
			pointer, _, _ := strings.Cut(key, "\x00")
			return &leakError{name, fmt.Sprintf("%s, the text of the events at %q put together,", where, pointer)}
		}
	}
	return nil
}

// texts are those of one event, and the numbers of the parts that it belongs to:
// the choice, the block, the call.
type texts struct {
	pointers []string
	said     [][]byte
	parts    string
}

// streamed are the texts of a stream put together: those at one place, and those at
// one place of one part, since the pieces of several parts may come in turns.
type streamed map[string][]byte

func (s streamed) add(e *texts) {
	for i, pointer := range e.pointers {
		s[pointer] = append(s[pointer], e.said[i]...)
		if e.parts != "" {
			s[pointer+"\x00"+e.parts] = append(s[pointer+"\x00"+e.parts], e.said[i]...)
		}
	}
}

func (e *texts) take(pointer jsontext.Pointer, token jsontext.Token) {
	switch token.Kind() {
	case '"':
		e.pointers, e.said = append(e.pointers, string(pointer)), append(e.said, []byte(token.String()))
	case '0':
		if strings.HasSuffix(pointer.LastToken(), "index") {
			e.parts += "/" + token.String()
		}
	default: // of no part in it
	}
}

// secretInJSON looks at the texts and names of a JSON document, as far as it is one,
// and collects its texts; nil collects none.
func secretInJSON(v *redact.Values, where string, text []byte, all *texts) *leakError {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return nil //nolint:nilerr // what follows is no JSON, and is looked at as bytes
		}
		if all != nil && !isName(dec) {
			all.take(dec.StackPointer(), token)
		}
		if token.Kind() != '"' {
			continue
		}
		if at := secretInText(v, where, []byte(token.String()), dec.StackPointer(), isName(dec)); at != nil {
			return at
		}
	}
}

// isName tells whether the text that was read last is a member's name.
func isName(dec *jsontext.Decoder) bool {
	kind, n := dec.StackIndex(dec.StackDepth())
	return kind == '{' && n%2 == 1
}

// secretInText looks at one text, and at the document in it, which has its own
// escapes. A name that is a secret is not told.
func secretInText(v *redact.Values, where string, said []byte, pointer jsontext.Pointer, name bool) *leakError {
	secret, found := v.Found(said)
	switch {
	case found && name:
		return &leakError{secret, fmt.Sprintf("%s, a name at %q,", where, pointer.Parent())}
	case found:
		return &leakError{secret, fmt.Sprintf("%s at %q", where, pointer)}
	case !name && looksLikeJSON(said) && jsontext.Value(said).IsValid():
		return secretInJSON(v, fmt.Sprintf("%s at %q", where, pointer), said, nil)
	}
	return nil
}
