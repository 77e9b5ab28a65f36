package fault

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
)

// cutInToolUse is a turn that runs into its limit inside a call. In real life the
// rest of the arguments is missing, and SDKs give {} where they ended. A right
// loop looks at the stop reason and runs nothing.
var cutInToolUse = Fault{
	Name:   "model.cut_in_tool_use",
	What:   "the turn runs into its token limit inside its last call",
	Breaks: "the call runs with half of its arguments, or with none",
	Right:  "class truncated; nothing runs",
	Seen:   true,
	fits:   rewritable,
	model: func(s *strike) (*http.Response, error) {
		return s.rewrite(func(r *wire.Response) {
			calls := plainCalls(r.Message.Blocks)
			n := calls[len(calls)-1]
			r.Message.Blocks = r.Message.Blocks[:n+1]
			b := &r.Message.Blocks[n]
			if s.held.place.structured() {
				*b = changed(*b, jsontext.Value("{}")) // what the providers put where the arguments end
			} else {
				*b = cutShort(*b)
			}
			s.stop(r, wire.StopTruncated, "")
		})
	},
}
