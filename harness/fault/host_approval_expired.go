package fault

import "github.com/retake-harness/retake/harness/tool"

// approvalExpired is an approval that comes too late. In real life the person
// comes back from lunch and clicks on a question whose draft, price or session is
// gone. A right host does not make the call then, and a right loop says so.
var approvalExpired = Fault{
	Name:     "host.approval_expired",
	What:     "a person approves a call when it is over",
	Breaks:   "it is made with what is no longer so, or the answer claims that it was",
	Right:    "no effect; the model is told that it was not approved",
	Seen:     true,
	declared: needsApproval,
	approval: func(d tool.Decision) tool.Decision {
		d.Late = true
		return d
	},
}
