package wire

import (
	"slices"

	"github.com/retake-harness/retake/harness/jsondoc"
)

// HasPrefix tells whether the conversation begins with the history, as far as
// the model would notice: what an agent may leave out or spell otherwise when it
// sends a turn back (reasoning, members that no field holds, empty texts) does
// not count.
func HasPrefix(messages, history []Message) bool {
	if len(messages) < len(history) {
		return false
	}
	for i := range history {
		if !sameTurn(&messages[i], &history[i]) {
			return false
		}
	}
	return true
}

func sameTurn(a, b *Message) bool {
	if a.Role != b.Role {
		return false
	}
	if len(a.Blocks) == len(b.Blocks) && sameBlocks(a.Blocks, b.Blocks) {
		return true
	}
	return sameBlocks(said(a.Blocks), said(b.Blocks))
}

// said are the blocks that count.
func said(blocks []Block) []Block {
	return slices.DeleteFunc(slices.Clone(blocks), func(b Block) bool {
		return b.Kind == KindReasoning || b.Kind == KindOpaque || (b.Kind == KindText && b.Text == "")
	})
}

func sameBlocks(a, b []Block) bool {
	return slices.EqualFunc(a, b, func(x, y Block) bool {
		return x.Kind == y.Kind && x.Text == y.Text && x.IsError == y.IsError &&
			sameIfSaid(x.ID, y.ID) && sameIfSaid(x.Name, y.Name) &&
			sameJSON(x.Args, y.Args) && sameBlocks(x.Result, y.Result)
	})
}

// sameIfSaid compares what one of the two sides may not say: where an API gives
// calls no ids, its clients make up some.
func sameIfSaid(a, b string) bool { return a == b || a == "" || b == "" }

func sameJSON(a, b []byte) bool {
	if string(a) == string(b) {
		return true
	}
	ca, errA := jsondoc.Canonical(nil, a)
	cb, errB := jsondoc.Canonical(nil, b)
	return errA == nil && errB == nil && string(ca) == string(cb)
}
