package anthropic

import (
	"slices"
	"strconv"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// Canonical implements wire.Codec. The defaults are those of the API reference.
func (Codec) Canonical(r *wire.Request) {
	r.Params = slices.DeleteFunc(r.Params, defaultParam)
	if r.ToolChoice.Mode == wire.ChoiceUnset && (r.ToolChoice.NoParallel || r.ToolChoice.Extra != nil) {
		r.ToolChoice.Mode = wire.ChoiceAuto
	}
	if r.ToolChoice.Mode == wire.ChoiceAuto && !r.ToolChoice.NoParallel && r.ToolChoice.Extra == nil {
		r.ToolChoice = wire.ToolChoice{}
	}
	for i := range r.Tools {
		canonicalTool(&r.Tools[i])
	}
	canonicalBlocks(r.System)
	for i := range r.Messages {
		canonicalBlocks(r.Messages[i].Blocks)
	}
}

// defaultParam tells whether a top-level field says what is so anyway.
func defaultParam(f wire.Field) bool {
	if rawjson.IsNull(f.Value) {
		return true
	}
	switch f.Name {
	case "temperature":
		n, err := strconv.ParseFloat(string(f.Value), 64)
		return err == nil && n == 1
	case "service_tier":
		return string(f.Value) == `"auto"`
	case "stop_sequences":
		return string(f.Value) == "[]"
	case "metadata":
		return string(f.Value) == "{}"
	case "thinking":
		kind, _ := rawjson.Text(rawjson.Get(f.Value, "type"))
		return kind == "disabled"
	}
	return false
}

// canonicalTool drops members of a declaration that are the default.
func canonicalTool(t *wire.Tool) {
	if t.Extra == nil {
		return
	}
	for _, d := range [...]struct{ name, value string }{
		{"type", `"custom"`},
		{"strict", "false"},
		{"defer_loading", "false"},
		{"eager_input_streaming", "false"},
		{"allowed_callers", `["direct"]`},
		{"input_examples", "[]"},
	} {
		if string(rawjson.Get(t.Extra, d.name)) == d.value {
			t.Extra = rawjson.Without(t.Extra, d.name)
		}
	}
	t.Extra = shortTTL(t.Extra)
}

func canonicalBlocks(blocks []wire.Block) {
	for i := range blocks {
		b := &blocks[i]
		if b.Extra != nil {
			b.Extra = shortTTL(b.Extra)
		}
		if string(rawjson.Get(b.Extra, "caller")) == `{"type":"direct"}` {
			b.Extra = rawjson.Without(b.Extra, "caller")
		}
		canonicalBlocks(b.Result)
	}
}

// shortTTL drops the default lifetime of a cache breakpoint, five minutes.
func shortTTL(extra []byte) []byte {
	cache := rawjson.Get(extra, "cache_control")
	if string(rawjson.Get(cache, "ttl")) != `"5m"` {
		return extra
	}
	return rawjson.Set(extra, "cache_control", rawjson.Without(cache, "ttl"))
}
