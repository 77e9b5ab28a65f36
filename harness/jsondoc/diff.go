package jsondoc

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind says how a place differs.
type Kind string

// The kinds of differences.
const (
	Changed Kind = "changed" // in both documents, with different values
	Added   Kind = "added"   // in the second document only
	Removed Kind = "removed" // in the first document only
)

// Difference is one place at which two documents differ. A and B are the values
// in canonical spelling, shortened around the first differing byte; empty where
// the document has none.
type Difference struct {
	// Pointer leads to the place: in the second document for Added, else in the
	// first. The two have different indices only behind an element that was
	// inserted or left out.
	Pointer string
	Kind    Kind
	A, B    string
}

// Diff lists at most limit differences from document a to document b in the order
// of a, and none exactly when their canonical spellings are equal. A limit ≤ 0
// sets none. An element inserted into an array is one difference; its
// neighbours stay paired. Texts that are no JSON documents are compared as
// strings at the pointer "".
func Diff(a, b []byte, limit int) []Difference {
	if bytes.Equal(a, b) {
		return nil
	}
	d := differ{limit: limit}
	na, errA := parse(a)
	nb, errB := parse(b)
	if errA != nil || errB != nil {
		d.add("", Changed, string(a), string(b))
		return d.out
	}
	d.compare("", na, nb)
	return d.out
}

type differ struct {
	out   []Difference
	limit int
}

func (d *differ) full() bool { return d.limit > 0 && len(d.out) >= d.limit }

func (d *differ) add(pointer string, kind Kind, a, b string) {
	if d.full() {
		return
	}
	a, b = shorten(a, b)
	d.out = append(d.out, Difference{Pointer: pointer, Kind: kind, A: a, B: b})
}

func (d *differ) compare(at string, a, b *node) {
	if d.full() || a.sum == b.sum {
		return
	}
	before := len(d.out)
	switch {
	case a.kind == '{' && b.kind == '{':
		d.objects(at, a, b)
	case a.kind == '[' && b.kind == '[':
		d.arrays(at, a, b)
	case a.kind == '"' && b.kind == '"':
		d.texts(at, a, b)
	}
	if len(d.out) == before {
		d.add(at, Changed, a.text(), b.text())
	}
}

func (d *differ) objects(at string, a, b *node) {
	for _, m := range a.members {
		where := at + "/" + Escape(m.name)
		if other := b.member(m.name); other != nil {
			d.compare(where, m.node, other)
		} else {
			d.add(where, Removed, m.node.text(), "")
		}
	}
	for _, m := range b.members {
		if a.member(m.name) == nil {
			d.add(at+"/"+Escape(m.name), Added, "", m.node.text())
		}
	}
}

// texts compares the documents inside two strings, where both hold one.
func (d *differ) texts(at string, a, b *node) {
	innerA, okA := embedded(a.scalar)
	innerB, okB := embedded(b.scalar)
	if !okA || !okB {
		return
	}
	na, errA := parse(innerA)
	nb, errB := parse(innerB)
	if errA == nil && errB == nil {
		d.compare(at, na, nb)
	}
}

// arrays pairs the elements that are equal, keeping their order, and compares
// what lies between two pairs position by position.
func (d *differ) arrays(at string, a, b *node) {
	i, j := 0, 0
	for _, p := range append(commonElements(a.elements, b.elements), pair{len(a.elements), len(b.elements)}) {
		d.gap(at, a.elements[i:p.a], b.elements[j:p.b], i, j)
		i, j = p.a+1, p.b+1
	}
}

func (d *differ) gap(at string, a, b []*node, offsetA, offsetB int) {
	for k := range max(len(a), len(b)) {
		switch {
		case k >= len(a):
			d.add(at+"/"+strconv.Itoa(offsetB+k), Added, "", b[k].text())
		case k >= len(b):
			d.add(at+"/"+strconv.Itoa(offsetA+k), Removed, a[k].text(), "")
		default:
			d.compare(at+"/"+strconv.Itoa(offsetA+k), a[k], b[k])
		}
	}
}

// pair holds the indices of two equal elements.
type pair struct{ a, b int }

// maxTable bounds the work of aligning two arrays: beyond it only their equal
// beginnings and ends are paired.
const maxTable = 1 << 18

// commonElements is a longest common subsequence.
func commonElements(a, b []*node) []pair {
	var out []pair
	head := 0
	for head < len(a) && head < len(b) && a[head].sum == b[head].sum {
		out = append(out, pair{head, head})
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail].sum == b[len(b)-1-tail].sum {
		tail++
	}
	out = append(out, alignMiddle(a[head:len(a)-tail], b[head:len(b)-tail], head)...)
	for k := tail; k > 0; k-- {
		out = append(out, pair{len(a) - k, len(b) - k})
	}
	return out
}

func alignMiddle(a, b []*node, offset int) []pair {
	width := len(b) + 1
	if len(a) == 0 || len(b) == 0 || (len(a)+1)*width > maxTable {
		return nil
	}
	longest := make([]int, (len(a)+1)*width) // of a[i:] and b[j:]
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x.sum == y.sum {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	var out []pair
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].sum == b[j].sum:
			out = append(out, pair{offset + i, offset + j})
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// A shortened value has at most maxShown bytes, of which lead are before the
// first difference.
const (
	maxShown = 72
	lead     = 24
)

// shorten cuts two values so that what differs between them stays visible.
func shorten(a, b string) (string, string) {
	from := 0
	if len(a) > maxShown || len(b) > maxShown {
		for from < len(a) && from < len(b) && a[from] == b[from] {
			from++
		}
		from -= lead
	}
	return window(a, from), window(b, from)
}

func window(s string, from int) string {
	if from > 0 && from < len(s) {
		for from < len(s) && !utf8.RuneStart(s[from]) {
			from++
		}
		s = "…" + s[from:]
	}
	if len(s) <= maxShown {
		return s
	}
	cut := maxShown
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.ToValidUTF8(s[:cut], "�") + "…"
}
