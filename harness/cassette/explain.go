package cassette

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/jsondoc"
)

const (
	maxNeighbours  = 32 // recordings that are compared with a request that missed
	maxDifferences = 64 // differences that are counted in one of them
)

// explain finds out why q has no recording. known are the recordings of the
// same question, all used. A bare miss is not compared with the recordings.
func explain(f *File, m *matcher, x *index, q question, ordinal int, known []int32, bare bool) *Miss {
	miss := &Miss{File: f.Name, Kind: NoSuchRequest, Ordinal: ordinal, Recordings: len(x.questions), Bare: bare}
	switch {
	case bare && len(known) == 0 && m.mode != Sequence:
	case len(known) > 0:
		miss.Kind, miss.Used = UsedUp, len(known)
		miss.nearest(f, int(known[len(known)-1]))
	case m.mode == Sequence && len(x.questions) > 0:
		miss.Kind, miss.Used = UsedUp, len(x.questions)
		miss.nearest(f, len(x.questions)-1)
	case len(x.questions) > 0:
		c := nearest(m, x, q, ordinal-1)
		miss.nearest(f, c.recording)
		miss.compare(x.questions[c.recording], q, c.differences)
	}
	return miss
}

func (m *Miss) nearest(f *File, i int) {
	m.Nearest, m.NearestLine = i+1, f.Interactions[i].Line
}

// candidate is a recording and how it differs from a request.
type candidate struct {
	recording   int
	elsewhere   bool // another method, path or header
	differences []jsondoc.Difference
	used        bool
	distance    int // from the request's own position
}

// nearest is the recording with the fewest differences among the free ones around
// the request's position, of equal ones the closest: an answer that was given
// already is not what a further turn of the conversation was recorded with. Where
// none is free, it is one that was given.
func nearest(m *matcher, x *index, q question, position int) candidate {
	position = min(position, len(x.questions)-1)
	free := map[int]bool{}
	for _, i := range x.free() {
		free[i] = true
	}
	var all []candidate
	for _, i := range around(position, len(x.questions)) {
		r := x.questions[i]
		c := candidate{recording: i, elsewhere: r.place != q.place, used: !free[i], distance: max(i-position, position-i)}
		c.differences = relevant(m, r, q, jsondoc.Diff(m.withoutIgnored(r.body), m.withoutIgnored(q.body), maxDifferences))
		all = append(all, c)
	}
	return slices.MinFunc(all, func(a, b candidate) int {
		return cmp.Or(
			compareBool(a.elsewhere, b.elsewhere),
			compareBool(a.used, b.used),
			cmp.Compare(len(a.differences), len(b.differences)),
			cmp.Compare(a.distance, b.distance),
		)
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// around lists at most maxNeighbours positions, the nearest to at first.
func around(at, n int) []int {
	out := []int{at}
	for d := 1; d < n && len(out) < maxNeighbours; d++ {
		if at-d >= 0 {
			out = append(out, at-d)
		}
		if at+d < n {
			out = append(out, at+d)
		}
	}
	return out
}

// relevant keeps the differences that lie in a part whose meaning differs: two
// spellings of one message are no reason for a miss.
func relevant(m *matcher, recorded, asked question, all []jsondoc.Difference) []jsondoc.Difference {
	if m.mode != Normalised || m.meaning == nil || len(all) == 0 {
		return all
	}
	a, b := m.understood(nil, recorded), m.understood(nil, asked)
	meant := map[Cause]bool{}
	for _, d := range jsondoc.Diff(a, b, maxDifferences) {
		meant[causeOf(d.Pointer, firstUser(a))] = true
	}
	user := firstUser(recorded.body)
	kept := slices.DeleteFunc(slices.Clone(all), func(d jsondoc.Difference) bool {
		return !meant[causeOf(d.Pointer, user)] || isCallID(d.Pointer)
	})
	if len(kept) == 0 {
		return all
	}
	return kept
}

// isCallID tells whether a pointer leads to an id that calls and their results
// share, and that is renamed before matching.
func isCallID(pointer string) bool {
	switch pointer[strings.LastIndexByte(pointer, '/')+1:] {
	case "id", "tool_call_id", "tool_use_id", "call_id":
		return strings.Count(pointer, "/") > 2
	}
	return false
}

// compare fills in what the nearest recording tells.
func (m *Miss) compare(recorded, asked question, differences []jsondoc.Difference) {
	m.Differences = differences
	if recorded.place != asked.place {
		m.comparePlaces(recorded.place, asked.place)
		return
	}
	user := firstUser(recorded.body)
	rank := map[Cause]int{CauseModel: 1, CausePrompt: 2, CauseTools: 3, CauseParameters: 4, CauseHistory: 5}
	for _, d := range differences {
		c := causeOf(d.Pointer, user)
		if m.Cause == "" || rank[c] < rank[m.Cause] {
			m.Cause = c
		}
		if volatileAt(c, d) {
			m.Volatile = append(m.Volatile, rule(d.Pointer))
		}
	}
	slices.Sort(m.Volatile)
	m.Volatile = slices.Compact(m.Volatile)
}

// comparePlaces explains a difference outside the body; it hides the others.
func (m *Miss) comparePlaces(recorded, asked string) {
	methodA, targetA, headersA := parts(recorded)
	methodB, targetB, headersB := parts(asked)
	if methodA != methodB || targetA != targetB {
		m.Cause = CausePath
		if methodA == methodB && withoutModel(targetA) == withoutModel(targetB) {
			m.Cause = CauseModel
		}
		m.Differences = []jsondoc.Difference{{Kind: jsondoc.Changed, A: methodA + " " + targetA, B: methodB + " " + targetB}}
		return
	}
	m.Cause = CauseHeaders
	m.Differences = []jsondoc.Difference{{Kind: jsondoc.Changed, A: headersA, B: headersB}}
}

// withoutModel takes the model's name out of a path such as Gemini's
// /v1beta/models/NAME:generateContent.
func withoutModel(target string) string {
	before, rest, ok := strings.Cut(target, "/models/")
	i := strings.IndexByte(rest, ':')
	if !ok || i < 0 {
		return target
	}
	return before + rest[i:]
}

// causeOf files a pointer into a request body, or into its meaning. user is the
// index of the first message of the user.
func causeOf(pointer string, user int) Cause {
	first, rest, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	switch first {
	case "model":
		return CauseModel
	case "system", "systemInstruction", "system_instruction", "instructions", "prompt":
		return CausePrompt
	case "tools", "tool_choice", "toolConfig", "tool_config", "functions", "function_call", "parallel_tool_calls":
		return CauseTools
	case "messages", "contents", "input":
		index, _, _ := strings.Cut(rest, "/")
		if i, err := strconv.Atoi(index); err != nil || i <= user {
			return CausePrompt
		}
		return CauseHistory
	}
	return CauseParameters
}

// conversation is what all APIs share: a list of messages under one of three
// names.
type conversation struct {
	Model    string         `json:"model"`
	Messages jsontext.Value `json:"messages"`
	Contents jsontext.Value `json:"contents"`
	Input    jsontext.Value `json:"input"`
}

func (c *conversation) list() []jsontext.Value {
	var out []jsontext.Value
	for _, v := range []jsontext.Value{c.Messages, c.Contents, c.Input} {
		if v.Kind() == '[' && json.Unmarshal(v, &out) == nil {
			return out
		}
	}
	return nil
}

// firstUser is the index of the first message that the user wrote; 0 when there
// is none.
func firstUser(body []byte) int {
	var c conversation
	if json.Unmarshal(body, &c) != nil {
		return 0
	}
	for i, v := range c.list() {
		var m struct {
			Role string `json:"role"`
		}
		if json.Unmarshal(v, &m) == nil && m.Role == "user" {
			return i
		}
	}
	return 0
}

// describeRequest says in a few words what a recorded request asks.
func describeRequest(q question) string {
	method, target, _ := parts(q.place)
	out := method + " " + target
	var c conversation
	if json.Unmarshal(q.body, &c) != nil {
		return out
	}
	if c.Model != "" {
		out += ", model " + c.Model
	}
	if list := c.list(); len(list) > 0 {
		out += ", " + strconv.Itoa(len(list)) + " messages, the last " + cut(string(list[len(list)-1]))
	}
	return out
}

// maxDescription bounds a value in a description, in bytes.
const maxDescription = 100

func cut(s string) string {
	if len(s) <= maxDescription {
		return s
	}
	return strings.ToValidUTF8(s[:maxDescription], "") + "…"
}
