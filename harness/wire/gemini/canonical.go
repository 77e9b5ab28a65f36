package gemini

import (
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// Canonical implements wire.Codec. The defaults are those of the API reference;
// those of sampling depend on the model and are kept.
func (Codec) Canonical(r *wire.Request) {
	for i := range r.Params {
		p := &r.Params[i]
		if p.Name == "generationConfig" && string(rawjson.Get(p.Value, "candidateCount")) == "1" {
			p.Value = rawjson.Without(p.Value, "candidateCount")
		}
	}
	r.Params = slices.DeleteFunc(r.Params, func(p wire.Field) bool {
		switch strings.TrimSpace(string(p.Value)) {
		case "", "null", "{}", "[]":
			return true
		}
		return false
	})
	if c := &r.ToolChoice; c.Mode == wire.ChoiceAuto && c.Name == "" && c.Extra == nil {
		*c = wire.ToolChoice{}
	}
}
