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
// others. Recordings with one key, the one that the mode of matching makes of a
// question, are handed out in the order of the file.
//
// A replay in the order of the file needs no key: the first free recording of
// all is also the first of its key, so it is enough that its bytes are those of
// the question. The keys are made when a question first asks for another.
type index struct {
	*lookup

	mu   sync.Mutex // guards all below
	used []bool
	next int   // those before it are used
	from []int // by group: members before it are used
}

// lookup is what indexes of the same recordings share.
type lookup struct {
	questions []question
	key       func(question) digest // nil: the order alone counts

	buildOnce sync.Once
	seed      maphash.Seed
	exact     map[exactKey]int32 // the first recording with these bytes
	byKey     map[digest]*group
	groups    []*group // by recording
}

type exactKey struct{ place, body uint64 }

// group are recordings that answer the same question.
type group struct {
	number  int
	members []int32
}

func newIndex(questions []question, key func(question) digest) *index {
	return (&index{lookup: &lookup{questions: questions, key: key, seed: maphash.MakeSeed()}}).fresh()
}

// fresh is an index of the same recordings of which none is used.
func (x *index) fresh() *index {
	return &index{lookup: x.lookup, used: make([]bool, len(x.questions))}
}

func (x *lookup) hash(q question) exactKey {
	return exactKey{maphash.String(x.seed, q.place), maphash.Bytes(x.seed, q.body)}
}

func (x *lookup) same(a, b question) bool {
	return a.place == b.place && bytes.Equal(a.body, b.body)
}

// take hands out the next free recording for q. Without one it is -1, and
// known are all recordings that answer q, used every one.
func (x *index) take(q question) (recording int, known []int32) {
	if i := x.takeNext(q); i >= 0 || x.key == nil {
		return i, nil
	}
	x.buildOnce.Do(x.build)
	g := x.groupOf(q)
	if g == nil {
		return -1, nil
	}
	return x.takeFrom(g), g.members
}

// groupOf are the recordings that answer q; nil without any. Bytes that were
// recorded need no key.
func (x *lookup) groupOf(q question) *group {
	if i, ok := x.exact[x.hash(q)]; ok && x.same(q, x.questions[i]) {
		return x.groups[i]
	}
	return x.byKey[x.key(q)]
}

func (x *lookup) build() {
	x.exact = make(map[exactKey]int32, len(x.questions))
	x.byKey = make(map[digest]*group, len(x.questions))
	x.groups = make([]*group, len(x.questions))
	for i, q := range x.questions {
		h := x.hash(q)
		first, known := x.exact[h]
		if !known {
			x.exact[h] = int32(i)
		}
		if known && x.same(q, x.questions[first]) {
			x.groups[i] = x.groups[first]
		} else {
			x.groups[i] = x.keyed(q)
		}
		x.groups[i].members = append(x.groups[i].members, int32(i))
	}
}

// keyed is the group of q's key, made where there is none.
func (x *lookup) keyed(q question) *group {
	k := x.key(q)
	g := x.byKey[k]
	if g == nil {
		g = &group{number: len(x.byKey)}
		x.byKey[k] = g
	}
	return g
}

func (x *index) takeFrom(g *group) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.from == nil {
		x.from = make([]int, len(x.byKey))
	}
	for x.from[g.number] < len(g.members) {
		i := int(g.members[x.from[g.number]])
		x.from[g.number]++
		if !x.used[i] {
			x.used[i] = true
			return i
		}
	}
	return -1
}

// takeNext hands out the first free recording of all if it answers q to the
// byte, or if the order alone counts.
func (x *index) takeNext(q question) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.next < len(x.used) && x.used[x.next] {
		x.next++
	}
	i := x.next
	if i == len(x.used) || x.key != nil && !x.same(q, x.questions[i]) {
		return -1
	}
	x.used[i] = true
	return i
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

// rewind makes every recording free again.
func (x *index) rewind() {
	x.mu.Lock()
	defer x.mu.Unlock()
	clear(x.used)
	x.next, x.from = 0, nil
}
