package scenario

import (
	"regexp"
	"time"

	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
)

// variant is an entry of faults as it is written.
type variant struct {
	first  fault.Spec
	more   []fault.Spec
	id     string
	way    divergence
	script []said
	expect expect
}

type divergence struct {
	way    Divergence
	accept string
}

// said is a turn of a script as it is written.
type said struct {
	turn  Said
	calls []saidCall
}

type saidCall struct {
	tool string
	args *yamlwalk.Tree
}

// idForm is what every file system takes for a name.
var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

var variantFields = yamlwalk.Object[variant]{
	Is: "a run under faults",
	Fields: append(strikeFields(func(v *variant) *fault.Spec { return &v.first }),
		yamlwalk.F("id", "Names the run, its golden file and its line in reports; default the fault's name.", yamlwalk.Pattern("a name of letters, digits and . _ -, for a file", idForm), func(v *variant) *string { return &v.id }),
		yamlwalk.F("and", "Further faults of the same run.", yamlwalk.List(strike.Kind()), func(v *variant) *[]fault.Spec { return &v.more }),
		yamlwalk.F("on_divergence", "How the run goes on where a fault that the model sees has ended the recording: stop (default), script, recorded, or {accept: reason}.", onDivergence, func(v *variant) *divergence { return &v.way }),
		yamlwalk.F("script", "The model's turns from there on, with on_divergence: script.", yamlwalk.List(saidFields.Kind()), func(v *variant) *[]said { return &v.script }),
		yamlwalk.F("expect", "What must hold of this run. Where it is to complete, the scenario's expectations hold besides.", expectation.Kind(), func(v *variant) *expect { return &v.expect }),
	),
}

var strike = yamlwalk.Object[fault.Spec]{
	Is: "a fault", Fields: strikeFields(func(s *fault.Spec) *fault.Spec { return s }),
}

// strikeFields are the fields of one fault, in whatever holds it.
func strikeFields[T any](in func(*T) *fault.Spec) []yamlwalk.Field[T] {
	return []yamlwalk.Field[T]{
		yamlwalk.Must("fault", "Name the fault, as `retake faults` lists it.", yamlwalk.Name("a fault's name", fault.Names(), fault.Unknown), func(t *T) *string { return &in(t).Name }),
		yamlwalk.F("at", "Where it strikes; left out, at the first place that fits.", address.Kind(), func(t *T) *fault.Address { return &in(t).At }),
		yamlwalk.F("times", "How many attempts in a row it strikes (of a fault that goes on: how many model calls), or every. Left out, one (goes on for ever).", yamlwalk.IntOr(1, "every", fault.Every), func(t *T) *int { return &in(t).Times }),
		yamlwalk.F("chance", "Strikes each place that at allows with this probability, by the seed.", yamlwalk.Chance(), func(t *T) *float64 { return &in(t).Chance }),
		yamlwalk.F("with", "Parameters; `retake faults NAME` says which fit, and what holds without them.", params.Kind(), func(t *T) *fault.Params { return &in(t).Params }),
	}
}

var address = yamlwalk.Object[fault.Address]{
	Is: "a place", Empty: "says no place; give one of call, attempt, event, tool, or drop the field",
	Fields: []yamlwalk.Field[fault.Address]{
		yamlwalk.F("call", "The model call, or with a tool the call among those of that tool, from 1; or every.", yamlwalk.IntOr(1, "every", fault.Every), func(a *fault.Address) *int { return &a.Call }),
		yamlwalk.F("attempt", "The attempt of that call, from 1.", yamlwalk.Int(1), func(a *fault.Address) *int { return &a.Attempt }),
		yamlwalk.F("event", "The event of the streamed answer, from 1; those before it arrive.", yamlwalk.Int(1), func(a *fault.Address) *int { return &a.Event }),
		yamlwalk.F("tool", "The tool.", yamlwalk.Text(), func(a *fault.Address) *string { return &a.Tool }),
	},
}

var params = yamlwalk.Object[fault.Params]{
	Is: "parameters", Empty: "has no parameter; give one, or drop the field",
	Fields: []yamlwalk.Field[fault.Params]{
		yamlwalk.F("delay", "A time.", someTime, func(p *fault.Params) *time.Duration { return &p.Delay }),
		yamlwalk.F("status", "An HTTP status that is a failure.", yamlwalk.Int(1), func(p *fault.Params) *int { return &p.Status }),
		yamlwalk.F("retry_after", "What the header retry-after asks for, in whole seconds.", someTime, func(p *fault.Params) *time.Duration { return &p.RetryAfter }),
		yamlwalk.F("bytes", "Bytes that are kept of a body, or the size of a result.", yamlwalk.Int(1), func(p *fault.Params) *int { return &p.Bytes }),
		yamlwalk.F("count", "How many calls.", yamlwalk.Int(1), func(p *fault.Params) *int { return &p.Count }),
		yamlwalk.F("text", "The text that is put in.", yamlwalk.Written(), func(p *fault.Params) *string { return &p.Text }),
		yamlwalk.F("kind", "One of the fault's kinds.", yamlwalk.Text(), func(p *fault.Params) *string { return &p.Kind }),
		yamlwalk.F("effect", "Whether the tool has done its work before the fault strikes.", yamlwalk.Enum(fault.Before, fault.After), func(p *fault.Params) *fault.Effect { return &p.Effect }),
	},
}

var someTime = yamlwalk.Then(yamlwalk.Duration(), func(v yamlwalk.Value, d time.Duration) {
	if d == 0 {
		v.Failf("must be more than 0; left out, it is the fault's own")
	}
})

var onDivergence = yamlwalk.Either("stop, script, recorded or {accept: reason}",
	yamlwalk.Map(yamlwalk.Enum(DivergeStop, DivergeScript, DivergeRecorded), func(_ yamlwalk.Value, way Divergence) (divergence, bool) {
		return divergence{way: way}, true
	}),
	yamlwalk.Object[divergence]{
		Is: "a way on",
		Fields: []yamlwalk.Field[divergence]{
			yamlwalk.Must("accept", "Say why it is enough that what happened until there was checked.", yamlwalk.Text(), func(d *divergence) *string { return &d.accept }),
		},
	}.Kind())

var saidFields = yamlwalk.Object[said]{
	Is: "a turn of the model", Empty: "says nothing; give text or calls",
	Fields: []yamlwalk.Field[said]{
		yamlwalk.F("when", "Which request it answers; left out, any. The first turn that was not said yet and fits is taken.", when.Kind(), func(s *said) *When { return &s.turn.When }),
		yamlwalk.F("text", "What the model says.", yamlwalk.Text(), func(s *said) *string { return &s.turn.Text }),
		yamlwalk.F("calls", "The tool calls that it makes.", yamlwalk.List(saidCallFields.Kind()), func(s *said) *[]saidCall { return &s.calls }),
		yamlwalk.F("stop", "The stop reason in the provider's words; left out, the one that fits.", yamlwalk.Text(), func(s *said) *string { return &s.turn.Stop }),
	},
}

var when = yamlwalk.Object[When]{
	Is: "a condition", Empty: "asks for nothing; give one of code, tool, call, or drop the field",
	Fields: []yamlwalk.Field[When]{
		yamlwalk.F("code", "A tool result of the last turn has this error code, or ok.", yamlwalk.Text(), func(w *When) *string { return &w.Code }),
		yamlwalk.F("tool", "This tool gave a result of the last turn; with code, the one with that code.", yamlwalk.Text(), func(w *When) *string { return &w.Tool }),
		yamlwalk.F("call", "The number of the model call in the run, from 1.", yamlwalk.Int(1), func(w *When) *int { return &w.Call }),
	},
}

var saidCallFields = yamlwalk.Object[saidCall]{
	Is: "a tool call",
	Fields: []yamlwalk.Field[saidCall]{
		yamlwalk.Must("tool", "Name the tool.", yamlwalk.Text(), func(c *saidCall) *string { return &c.tool }),
		yamlwalk.F("args", "The arguments, as written; default none.", yamlwalk.Optional(yamlwalk.JSONObject()), func(c *saidCall) **yamlwalk.Tree { return &c.args }),
	},
}
