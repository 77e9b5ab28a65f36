package anthropic

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// stops are the stop reasons of the API reference; the first of a Stop is what
// is written for it.
var stops = [...]struct {
	raw  string
	stop wire.Stop
}{
	{"end_turn", wire.StopDone},
	{"stop_sequence", wire.StopDone},
	{"tool_use", wire.StopToolCalls},
	{"max_tokens", wire.StopTruncated},
	{"model_context_window_exceeded", wire.StopTruncated},
	{"pause_turn", wire.StopPaused},
	{"compaction", wire.StopPaused},
	{"refusal", wire.StopRefused},
}

func setStop(r *wire.Response, raw string) {
	r.RawStop = []string{raw}
	r.Stop = wire.StopUnknown
	for _, s := range stops {
		if s.raw == raw {
			r.Stop = s.stop
		}
	}
}

// rawStop is the provider's word for the answer's stop, as JSON.
func appendStop(dst []byte, r *wire.Response) []byte {
	if len(r.RawStop) > 0 {
		return rawjson.Quote(dst, r.RawStop[0])
	}
	if r.Stop == wire.StopNone {
		return append(dst, "null"...)
	}
	for _, s := range stops {
		if s.stop == r.Stop {
			return rawjson.Quote(dst, s.raw)
		}
	}
	return rawjson.Quote(dst, r.Stop)
}

// setUsage: the figures of the API exclude each other, so the neutral
// accounting is the reported one.
func setUsage(r *wire.Response, usage jsontext.Value) {
	if len(usage) == 0 || rawjson.IsNull(usage) {
		return
	}
	r.RawUsage = usage
	var u wire.Usage
	c := rawjson.New(usage)
	for c.Object(); c.More(); {
		switch string(c.Name()) {
		case "input_tokens":
			u.Input = c.Int()
		case "output_tokens":
			u.Output = c.Int()
		case "cache_read_input_tokens":
			u.CacheRead = c.Int()
		case "cache_creation_input_tokens":
			u.CacheWrite = c.Int()
		case "output_tokens_details":
			if n, ok := rawjson.Int(rawjson.Get(c.Value(), "thinking_tokens")); ok {
				u.Reasoning = &n
			}
		default:
			c.Value()
		}
	}
	r.Usage, r.Reported = u, u
}
