package fault

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/tool"
)

// approvalEdited is a call that is changed after it was approved. In real life the
// model, or a second tab, changes the draft between the question and the click. A
// right host holds what is to be made against what the person saw.
var approvalEdited = Fault{
	Name:     "host.approval_edited",
	What:     "the arguments of a call are others than those that a person approved",
	Breaks:   "something is done that nobody agreed to",
	Right:    "no effect; the model is told that it was not approved",
	Seen:     true,
	declared: needsApproval,
	approval: func(d tool.Decision) tool.Decision {
		d.Shown = jsontext.Value("null") // no call has such arguments
		return d
	},
}
