package gemini

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// EncodeResponse implements wire.Codec. A raw finish reason or usage that is
// there is written as it is, else it is made from the neutral one. A stream is
// written as events; one whose Problems say so lacks its terminal chunk.
func (Codec) EncodeResponse(dst []byte, r *wire.Response, stream bool) ([]byte, error) {
	if r.Err != nil && (!stream || r.Err.Status >= 400) {
		return appendError(dst, r.Err), nil
	}
	if stream {
		return appendStream(dst, r), nil
	}
	return appendLast(dst, r, r.Message.Blocks), nil
}

// appendError: inside a stream, whose status is 200, the code says which status it
// would have been.
func appendError(dst []byte, e *wire.APIError) []byte {
	code := e.Status
	if n, err := strconv.Atoi(e.Code); err == nil {
		code = n
	}
	dst = strconv.AppendInt(append(dst, `{"error":{"code":`...), int64(code), 10)
	dst = rawjson.Quote(append(dst, `,"message":`...), e.Message)
	dst = rawjson.Quote(append(dst, `,"status":`...), e.Type)
	return append(dst, "}}"...)
}

// appendStream writes a chunk for each block. Texts that would be taken for one
// when they came in different chunks share one.
func appendStream(dst []byte, r *wire.Response) []byte {
	broken := slices.ContainsFunc(r.Problems, func(p wire.Problem) bool { return p.Kind == wire.ProblemNoTerminal })
	var data []byte
	rest := r.Message.Blocks
	for len(rest) > 0 {
		n := 1
		for n < len(rest) && merges(&rest[n-1], &rest[n]) {
			n++
		}
		if n == len(rest) && r.Err == nil && !broken {
			break // they go with the end
		}
		data = append(appendContent(append(data[:0], `{"candidates":[{`...), rest[:n], nil), "}]"...)
		data = append(appendNames(data, r), '}')
		dst = sse.Append(dst, "", data)
		rest = rest[n:]
	}
	switch {
	case r.Err != nil:
		data = appendError(data[:0], r.Err)
	case broken && len(r.Message.Blocks) > 0:
		return dst
	default:
		data = appendLast(data[:0], r, rest)
	}
	return sse.Append(dst, "", data)
}

// appendLast writes an answer with all that is known at its end.
func appendLast(dst []byte, r *wire.Response, blocks []wire.Block) []byte {
	dst = append(dst, '{')
	begun := len(dst)
	if !refused(r) {
		dst = appendContent(append(dst, `"candidates":[{`...), blocks, r.Message.Extra)
		dst = rawjson.Splice(appendStop(dst, r), firstOf(rawjson.Get(r.Extra, "candidates")))
		dst = append(dst, "}]"...)
	}
	if u := appendUsage(nil, r); u != nil {
		dst = append(append(comma(dst, len(dst)-begun), `"usageMetadata":`...), u...)
	}
	if len(dst) == begun {
		dst = append(dst, `"candidates":[]`...)
	}
	dst = rawjson.Splice(appendNames(dst, r), rawjson.Without(r.Extra, "candidates"))
	return append(dst, '}')
}

func appendContent(dst []byte, blocks []wire.Block, extra jsontext.Value) []byte {
	dst = appendParts(append(dst, `"content":{"parts":`...), blocks)
	dst = rawjson.Splice(append(dst, `,"role":"model"`...), extra)
	return append(dst, '}')
}

func appendNames(dst []byte, r *wire.Response) []byte {
	if r.Model != "" {
		dst = rawjson.Quote(append(dst, `,"modelVersion":`...), r.Model)
	}
	if r.ID != "" {
		dst = rawjson.Quote(append(dst, `,"responseId":`...), r.ID)
	}
	return dst
}

// refused tells whether the prompt was refused: then there is no candidate.
func refused(r *wire.Response) bool {
	return len(r.Message.Blocks) == 0 && rawjson.Get(rawjson.Get(r.Extra, "promptFeedback"), "blockReason") != nil &&
		rawjson.Get(r.Extra, "candidates") == nil
}

func firstOf(list jsontext.Value) jsontext.Value {
	if len(list) == 0 {
		return nil
	}
	c := rawjson.New(list)
	for c.Array(); c.More(); {
		return c.Value()
	}
	return nil
}

func appendUsage(dst []byte, r *wire.Response) []byte {
	if r.RawUsage != nil {
		return append(dst, r.RawUsage...)
	}
	u := r.Reported
	if u == (wire.Usage{}) {
		u = reported(r.Usage)
	}
	if u == (wire.Usage{}) {
		return dst
	}
	dst = append(dst, '{')
	var total int64
	for _, f := range [...]struct {
		name string
		n    *int64
	}{
		{"promptTokenCount", u.Input}, {"candidatesTokenCount", u.Output}, {"thoughtsTokenCount", u.Reasoning},
	} {
		if f.n != nil {
			dst = append(rawjson.Quote(dst, f.name), ':')
			dst = append(strconv.AppendInt(dst, *f.n, 10), ',')
			total += *f.n
		}
	}
	if u.CacheRead != nil {
		dst = append(strconv.AppendInt(append(dst, `"cachedContentTokenCount":`...), *u.CacheRead, 10), ',')
	}
	return append(strconv.AppendInt(append(dst, `"totalTokenCount":`...), total, 10), '}')
}

// reported turns the neutral accounting into the provider's.
func reported(u wire.Usage) wire.Usage {
	return wire.Usage{
		Input:     sum(u.Input, u.CacheRead, nil, 0),
		CacheRead: u.CacheRead,
		Output:    sum(u.Output, nil, u.Reasoning, -1),
		Reasoning: u.Reasoning,
	}
}
