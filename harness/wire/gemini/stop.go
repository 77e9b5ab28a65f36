package gemini

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// finish are the finish reasons of the API reference; the first of a Stop is
// what is written for it. What the reference calls unknown is unknown.
var finish = [...]struct {
	raw  string
	stop wire.Stop
}{
	{"STOP", wire.StopDone},
	{"MAX_TOKENS", wire.StopTruncated},
	{"SAFETY", wire.StopRefused},
	{"RECITATION", wire.StopRefused},
	{"LANGUAGE", wire.StopRefused},
	{"BLOCKLIST", wire.StopRefused},
	{"PROHIBITED_CONTENT", wire.StopRefused},
	{"SPII", wire.StopRefused},
	{"MODEL_ARMOR", wire.StopRefused},
	{"IMAGE_SAFETY", wire.StopRefused},
	{"IMAGE_PROHIBITED_CONTENT", wire.StopRefused},
	{"IMAGE_RECITATION", wire.StopRefused},
	{"MALFORMED_FUNCTION_CALL", wire.StopMalformed},
	{"UNEXPECTED_TOOL_CALL", wire.StopMalformed},
	{"TOO_MANY_TOOL_CALLS", wire.StopMalformed},
	{"MALFORMED_RESPONSE", wire.StopMalformed},
	{"MISSING_THOUGHT_SIGNATURE", wire.StopMalformed},
}

// stop sets the stop from the finish reasons: a finished turn with calls is one
// of calls, since STOP stands for both.
func (a *answer) stop() {
	for _, raw := range a.stops {
		if raw != "" {
			a.r.RawStop = append(a.r.RawStop, raw)
		}
	}
	if len(a.stops) > 1 {
		a.problem(wire.ProblemChoices, -1, "only the first candidate is the turn")
	}
	switch {
	case len(a.stops) > 0 && a.stops[0] != "":
		a.r.Stop = neutralStop(a.stops[0])
	case a.blocked != "":
		a.r.Stop, a.r.RawStop = wire.StopRefused, []string{a.blocked}
	}
	if a.r.Stop == wire.StopDone && len(a.r.Calls()) > 0 {
		a.r.Stop = wire.StopToolCalls
	}
}

// reasonOf is a finish reason as it came: its name, or its number, which clients
// that ask for $alt=json;enum-encoding=int are sent.
func reasonOf(v jsontext.Value) string {
	if _, ok := rawjson.Int(v); ok {
		return string(v)
	}
	return rawjson.TextOf(v)
}

// numbered are the reasons whose numbers mean the same in the APIs of Google AI and
// of Vertex AI, by number.
var numbered = [...]string{1: "STOP", 2: "MAX_TOKENS", 3: "SAFETY", 4: "RECITATION"}

func neutralStop(raw string) wire.Stop {
	if n, err := strconv.Atoi(raw); err == nil && n > 0 && n < len(numbered) {
		raw = numbered[n]
	}
	for _, f := range finish {
		if f.raw == raw {
			return f.stop
		}
	}
	return wire.StopUnknown
}

// appendStop writes the finish reason as a member with a comma in front,
// nothing when there is none.
func appendStop(dst []byte, r *wire.Response) []byte {
	var raw string
	switch {
	case len(r.RawStop) > 0:
		raw = r.RawStop[0]
	case r.Stop == wire.StopNone:
		return dst
	case r.Stop == wire.StopToolCalls:
		raw = "STOP"
	default:
		raw = "OTHER"
		for _, f := range finish {
			if f.stop == r.Stop {
				raw = f.raw
				break
			}
		}
	}
	dst = append(dst, `,"finishReason":`...)
	if _, err := strconv.Atoi(raw); err == nil && rawjson.Valid([]byte(raw)) {
		return append(dst, raw...)
	}
	return rawjson.Quote(dst, raw)
}

// setUsage: the prompt's figure includes what the cache held and leaves out
// what provider-run tools added; the candidates' leaves out the thoughts.
func setUsage(r *wire.Response, usage jsontext.Value) {
	if len(usage) == 0 || rawjson.IsNull(usage) {
		return
	}
	r.RawUsage = usage
	var toolPrompt *int64
	u := &r.Reported
	c := rawjson.New(usage)
	for c.Object(); c.More(); {
		switch camel(c.Name()) {
		case "promptTokenCount":
			u.Input = c.Int()
		case "cachedContentTokenCount":
			u.CacheRead = c.Int()
		case "candidatesTokenCount":
			u.Output = c.Int()
		case "thoughtsTokenCount":
			u.Reasoning = c.Int()
		case "toolUsePromptTokenCount":
			toolPrompt = c.Int()
		default:
			c.Value()
		}
	}
	r.Usage = wire.Usage{CacheRead: u.CacheRead, Reasoning: u.Reasoning}
	r.Usage.Input = sum(u.Input, toolPrompt, u.CacheRead, -1)
	r.Usage.Output = sum(u.Output, u.Reasoning, nil, 0)
}

// sum is a + b + sign·c; nil when neither a nor b was reported.
func sum(a, b, c *int64, sign int64) *int64 {
	if a == nil && b == nil {
		return nil
	}
	var n int64
	for _, p := range [...]*int64{a, b} {
		if p != nil {
			n += *p
		}
	}
	if c != nil {
		n += sign * *c
	}
	return &n
}
