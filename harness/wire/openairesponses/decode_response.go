package openairesponses

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
	"github.com/retake-harness/retake/harness/wire/rawjson"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// DecodeResponse reads an answer. A body that begins with a brace is JSON,
// whatever its content type.
func (Codec) DecodeResponse(status int, contentType string, body []byte) (*wire.Response, error) {
	stream := sse.Is(contentType, body) && !openai.IsObject(body)
	switch {
	case status >= 400 && !stream:
		return &wire.Response{Err: wire.ReadError(status, body), Complete: true}, nil
	case stream:
		return decodeStream(status, body)
	}
	if err := openai.CheckObject("openai responses: reading an answer", body); err != nil {
		return nil, err
	}
	a := answer{r: &wire.Response{Complete: true}, status: status}
	if a.read(body) {
		a.finish()
		return a.r, nil
	}
	if err := openai.InBody(status, body); err != nil {
		return &wire.Response{Err: err, Complete: true}, nil //nolint:nilerr // the provider's error, which was read well
	}
	return nil, failure.Errorf(failure.Protocol, `openai responses: reading an answer: it has neither "output" nor "error"`)
}

// answer gathers a response object.
type answer struct {
	r      *wire.Response
	status int

	state      string // the object's status
	incomplete string // why it is incomplete
	usage      jsontext.Value
	output     jsontext.Value
}

// read takes a response object; false when it is none.
func (a *answer) read(v jsontext.Value) bool {
	r := a.r
	var extra openai.Extra
	known := false
	for o := rawjson.InObject(v); o.More(); {
		name, value := o.Member()
		switch s := string(name); s {
		case "object":
			known = known || string(value) == `"response"`
		case "id":
			r.ID = rawjson.TextOf(value)
		case "model":
			r.Model = rawjson.TextOf(value)
		case "status":
			a.state = rawjson.TextOf(value)
		case "incomplete_details":
			a.incomplete = rawjson.TextOf(rawjson.Get(value, "reason"))
		case "output":
			known = known || openai.IsArray(value)
			a.output = value
		case "usage":
			a.usage = value
		case "error":
		default:
			extra.Add(s, value)
		}
	}
	if !known {
		return false
	}
	r.Extra = extra.Object()
	r.Err = openai.InBody(a.status, v)
	if r.Err == nil && a.state == "failed" {
		r.Err = &wire.APIError{Status: a.status, Type: "failed"}
	}
	return true
}

// finish turns what was gathered into the neutral answer.
func (a *answer) finish() {
	r := a.r
	r.Message.Role = wire.RoleAssistant
	for e := rawjson.InArray(a.output); e.More(); {
		a.item(&e)
	}
	if r.Err == nil && a.state != "" {
		raw := a.state
		if a.incomplete != "" {
			raw += ":" + a.incomplete
		}
		r.RawStop = []string{raw}
		r.Stop = stop(r, raw)
	}
	r.Problems = append(r.Problems, wire.DuplicateIDs(r.Message.Blocks)...)
	a.count()
}

// item adds an item of the output. A call that is there twice, under two item
// ids, is one call.
func (a *answer) item(c *rawjson.Cursor) {
	r := a.r
	var it item
	it.read(c)
	if it.kind != "function_call" && it.kind != "custom_tool_call" {
		r.Message.Blocks = it.turn(r.Message.Blocks)
		return
	}
	b, text := it.call()
	if first := a.twin(&b, text); first >= 0 {
		r.Problems = append(r.Problems, wire.Problem{Kind: wire.ProblemDuplicateID, Block: first, Detail: b.ID + " under two item ids, counted once"})
		return
	}
	r.Message.Blocks = append(r.Message.Blocks, b)
	i := len(r.Message.Blocks) - 1
	here := &r.Message.Blocks[i]
	if it.kind == "custom_tool_call" {
		here.ArgsText = string(text)
		return
	}
	unfinished := a.state != "completed" || string(rawjson.Get(it.raw, "status")) == `"in_progress"`
	if kind := openai.SetArgs(here, text, unfinished); kind != "" {
		r.Problems = append(r.Problems, wire.Problem{Kind: kind, Block: i, Detail: b.Name})
	}
}

// twin is the index of the call that b repeats, -1 for none.
func (a *answer) twin(b *wire.Block, text []byte) int {
	for i := range a.r.Message.Blocks {
		c := &a.r.Message.Blocks[i]
		if c.Kind == wire.KindToolCall && b.ID != "" && c.ID == b.ID && c.Name == b.Name && openai.Arguments(c) == string(text) {
			return i
		}
	}
	return -1
}

// stop is the status in neutral words.
func stop(r *wire.Response, raw string) wire.Stop {
	switch state, reason, _ := strings.Cut(raw, ":"); {
	case state == "completed":
		return openai.Finished(r.Message.Blocks)
	case state == "incomplete" && reason == "max_output_tokens":
		return wire.StopTruncated
	case state == "incomplete" && reason == "content_filter":
		return wire.StopRefused
	}
	return wire.StopUnknown
}

// count reads the usage object.
func (a *answer) count() {
	if !openai.IsObject(a.usage) {
		return
	}
	r := a.r
	r.RawUsage = a.usage
	for o := rawjson.InObject(a.usage); o.More(); {
		name, value := o.Member()
		switch string(name) {
		case "input_tokens":
			r.Reported.Input = openai.Int(value)
		case "output_tokens":
			r.Reported.Output = openai.Int(value)
		case "input_tokens_details":
			r.Reported.CacheRead = openai.Int(rawjson.Get(value, "cached_tokens"))
			r.Reported.CacheWrite = openai.Int(rawjson.Get(value, "cache_write_tokens"))
		case "output_tokens_details":
			r.Reported.Reasoning = openai.Int(rawjson.Get(value, "reasoning_tokens"))
		}
	}
	r.Usage = openai.Neutral(r.Reported, false)
}
