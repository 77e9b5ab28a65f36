package fault

import (
	"cmp"
	"strings"
)

// oversized is a result that is far too large. In real life a query without a
// limit returns a whole table, and the conversation is full. A right loop cuts it
// with a mark that the model can see, and its budget of tokens holds.
var oversized = Fault{
	Name:   "tool.oversized",
	What:   "the tool's result is huge",
	Breaks: "the context is full, the bill is large, or the next request is turned down",
	Right:  "the result is cut with a visible mark; the token budget holds",
	Takes:  []Param{{"bytes", "a tenth more than the model is shown of a result of the tool"}},
	Seen:   true,
	rework: swollen,
}

// swollen is the result, filled up to the size.
func swollen(p *Place, s *Spec) (content, why string) {
	size := cmp.Or(s.Params.Bytes, p.Decl().Limit()*11/10)
	const filler = " and so on,"
	return embed(p, func(old, rest string) string {
		missing := size - len(rest) - len(old)
		if missing <= 0 {
			return old
		}
		return old + strings.Repeat(filler, missing/len(filler)+1)[:missing]
	})
}
