package cassette

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// question is what a request asks, as far as matching goes.
type question struct {
	place string // method, path, query, declared headers
	body  []byte
}

// index finds the next free recording for a question without looking at the
// others. It has two levels: the bytes as they are, and only when those are
// unknown or used up the key that the mode of matching makes of them; the
// second is built when it is first needed.
//
// Within a level, recordings are handed out in the order of the file.
type index struct {
	questions []question
	key       func(question) digest // nil: the order alone counts

	seed  maphash.Seed
	exact map[exactKey]*group

	buildOnce sync.Once
	byKey     map[digest]*group

	mu   sync.Mutex // guards used and every group's next
	used []bool
	next int // the first that may be free, when the order alone counts
}

type exactKey struct{ place, body uint64 }

// group are recordings that answer the same question.
type group struct {
	members []int32
	next    int // members before it are used
}

func newIndex(questions []question, key func(question) digest) *index {
	x := &index{questions: questions, key: key, seed: maphash.MakeSeed(), used: make([]bool, len(questions))}
	if key == nil {
		return x
	}
	x.exact = make(map[exactKey]*group, len(questions))
	groups := make([]group, len(questions))
	members := make([]int32, len(questions))
	for i, q := range questions {
		k := x.hash(q)
		g := x.exact[k]
		switch {
		case g == nil:
			g = &groups[i]
			members[i] = int32(i)
			g.members = members[i : i+1 : i+1]
			x.exact[k] = g
		case x.same(q, questions[g.members[0]]):
			g.members = append(g.members, int32(i))
		default:
			// Equal hashes of different bytes: the second level finds it.
		}
	}
	return x
}

func (x *index) hash(q question) exactKey {
	return exactKey{maphash.String(x.seed, q.place), maphash.Bytes(x.seed, q.body)}
}

func (x *index) same(a, b question) bool {
	return a.place == b.place && bytes.Equal(a.body, b.body)
}

// take hands out the next free recording for q. Without one it is -1, and
// known are all recordings that answer q, used every one.
func (x *index) take(q question) (recording int, known []int32) {
	if x.key == nil {
		return x.takeNext(), nil
	}
	g := x.exact[x.hash(q)]
	if g != nil && x.same(q, x.questions[g.members[0]]) {
		if i := x.takeFrom(g); i >= 0 {
			return i, nil
		}
	}
	x.buildOnce.Do(x.build)
	if g = x.byKey[x.key(q)]; g == nil {
		return -1, nil
	}
	return x.takeFrom(g), g.members
}

func (x *index) build() {
	x.byKey = make(map[digest]*group, len(x.questions))
	for i, q := range x.questions {
		k := x.key(q)
		g := x.byKey[k]
		if g == nil {
			g = new(group)
			x.byKey[k] = g
		}
		g.members = append(g.members, int32(i))
	}
}

func (x *index) takeFrom(g *group) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	for g.next < len(g.members) {
		i := int(g.members[g.next])
		g.next++
		if !x.used[i] {
			x.used[i] = true
			return i
		}
	}
	return -1
}

func (x *index) takeNext() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.next == len(x.used) {
		return -1
	}
	x.used[x.next] = true
	x.next++
	return x.next - 1
}

// free lists the recordings that were not handed out.
func (x *index) free() []int {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []int
	for i, u := range x.used {
		if !u {
			out = append(out, i)
		}
	}
	return out
}
