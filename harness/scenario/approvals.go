package scenario

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/internal/yamlwalk"
)

// Approval is what a person decides about calls of a tool that asks for it.
type Approval struct {
	Tool     string
	Call     int // the how-manieth call of the tool; 0 is each
	Decision Decision
	Args     jsontext.Value // with DecideEdit: what the arguments are changed to
}

// Decision is an answer of a person.
type Decision string

// The decisions.
const (
	DecideApprove Decision = "approve"
	DecideDeny    Decision = "deny"
	DecideEdit    Decision = "edit"  // approves the call with other arguments
	DecideLate    Decision = "late"  // the call is over when the answer comes; it holds for the same call later
	DecideNever   Decision = "never" // nobody answers
)

type approval struct {
	tool     text
	call     int
	decision Decision
	args     *yamlwalk.Tree
}

var approvalFields = yamlwalk.Object[approval]{
	Is: "a person's decision",
	Fields: []yamlwalk.Field[approval]{
		yamlwalk.Must("tool", "Name the tool, which says approval: true.", yamlwalk.At(yamlwalk.Text()), func(a *approval) *text { return &a.tool }),
		yamlwalk.F("call", "The how-manieth call of the tool that asks; left out, each that no other entry names.", yamlwalk.Int(1), func(a *approval) *int { return &a.call }),
		yamlwalk.Must("decision", "Say what the person decides: approve, deny, edit (with args), late (the call is over by then; the same call may be made later) or never.", yamlwalk.Enum(DecideApprove, DecideDeny, DecideEdit, DecideLate, DecideNever), func(a *approval) *Decision { return &a.decision }),
		yamlwalk.F("args", "What the person changes the arguments to.", yamlwalk.Optional(yamlwalk.JSONObject()), func(a *approval) **yamlwalk.Tree { return &a.args }),
	},
	Check: func(v yamlwalk.Value, a *approval) {
		if edits := a.decision == DecideEdit; edits != (a.args != nil) {
			v.Failf("args and decision: edit belong together; give both, or neither")
		}
	},
}

// approvals checks that each decision is about a tool that asks for one, and that
// no two are about the same call.
func (b *builder) approvals(written []approval) []Approval {
	type place struct {
		tool string
		call int
	}
	seen := map[place]bool{}
	var out []Approval
	for _, w := range written {
		b.needTool(w.tool, "")
		for i := range b.tools {
			if b.tools[i].Name == w.tool.V && !b.tools[i].Approval {
				b.f.Failf(w.tool.At, "the tool %q asks nobody; say approval: true in its declaration", w.tool.V)
			}
		}
		at := place{w.tool.V, w.call}
		if seen[at] {
			b.f.Failf(w.tool.At, "two decisions about the same call of %q; drop one, or say call", w.tool.V)
		}
		seen[at] = true
		a := Approval{Tool: w.tool.V, Call: w.call, Decision: w.decision}
		if w.args != nil {
			a.Args = w.args.JSON
		}
		out = append(out, a)
	}
	return out
}
