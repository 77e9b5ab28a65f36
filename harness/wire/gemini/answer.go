package gemini

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// answer is put together from one whole answer or from the chunks of a stream.
type answer struct {
	r     *wire.Response
	usage jsontext.Value // the last one counts
	// extra and candidate are the members of the answer and of its first
	// candidate that no field holds; of equal names the last counts.
	extra, candidate jsontext.Value
	blocked          string   // why the prompt was refused
	stops            []string // finish reasons by candidate
	known            bool     // something of this API was seen
	holed            bool     // a chunk before the end could not be read
}

func newAnswer() *answer {
	return &answer{r: &wire.Response{Message: wire.Message{Role: wire.RoleAssistant}}}
}

func (a *answer) bad(data []byte) {
	a.problem(wire.ProblemBadEvent, -1, string(data))
	a.holed = a.holed || !a.ended()
}

func (a *answer) problem(kind wire.ProblemKind, block int, detail string) {
	a.r.Problems = append(a.r.Problems, wire.Problem{Kind: kind, Block: block, Detail: detail})
}

// chunk takes a whole answer, or one of a stream's.
func (a *answer) chunk(v jsontext.Value) error {
	c := rawjson.New(v)
	for c.Object(); c.More(); {
		name := camel(c.Name())
		switch name {
		case "candidates":
			a.candidates(&c)
		case "usageMetadata":
			a.usage = c.Value()
		case "modelVersion":
			a.r.Model = c.Text()
		case "responseId":
			a.r.ID = c.Text()
		case "error":
			c.Value()
			a.r.Err = wire.ReadError(200, v)
		case "promptFeedback":
			feedback := c.Value()
			a.blocked, _ = rawjson.Text(rawjson.Get(feedback, "blockReason"))
			a.extra = set(a.extra, name, feedback)
		default:
			a.extra = set(a.extra, name, c.Value())
			continue
		}
		a.known = true
	}
	return c.Err()
}

func set(object jsontext.Value, name string, v jsontext.Value) jsontext.Value {
	if rawjson.IsNull(v) {
		return object
	}
	if object == nil {
		object = jsontext.Value("{}")
	}
	return rawjson.Set(object, name, v)
}

// mostCandidates bounds what a broken index can ask for.
const mostCandidates = 64

func (a *answer) candidates(c *rawjson.Cursor) {
	position := 0
	for c.Array(); c.More(); position++ {
		v := c.Value()
		index := int64(position)
		if n, ok := rawjson.Int(rawjson.Get(v, "index")); ok && n >= 0 && n < mostCandidates {
			index = n
		}
		for int64(len(a.stops)) <= index && index < mostCandidates {
			a.stops = append(a.stops, "")
		}
		if index == 0 {
			a.first(v)
		} else if reason := reasonOf(rawjson.Get(v, "finishReason")); reason != "" && index < mostCandidates {
			a.stops[index] = reason
		}
	}
}

// first takes the candidate that is the turn.
func (a *answer) first(v jsontext.Value) {
	c := rawjson.New(v)
	for c.Object(); c.More(); {
		switch name := camel(c.Name()); name {
		case "content":
			a.content(&c)
		case "finishReason":
			if raw := reasonOf(c.Value()); raw != "" {
				a.stops[0] = raw
			}
		default:
			a.candidate = set(a.candidate, name, c.Value())
		}
	}
}

func (a *answer) content(c *rawjson.Cursor) {
	for c.Object(); c.More(); {
		switch name := camel(c.Name()); name {
		case "parts":
			a.parts(decodeParts(c))
		case "role":
			c.Value()
		default:
			a.r.Message.Extra = set(a.r.Message.Extra, name, c.Value())
		}
	}
}

// parts adds the parts of a chunk. Its first goes on with the last of the chunk
// before when both are plain text of one kind. A part without any text says
// nothing, unless it carries a signature.
func (a *answer) parts(parts []wire.Block) {
	for i := range parts {
		p := &parts[i]
		if p.Text == "" && mergeable(p) {
			continue
		}
		if last := len(a.r.Message.Blocks) - 1; i == 0 && last >= 0 && merges(&a.r.Message.Blocks[last], p) {
			goOn(&a.r.Message.Blocks[last], p)
			continue
		}
		a.r.Message.Blocks = append(a.r.Message.Blocks, *p)
	}
}

func merges(a, b *wire.Block) bool { return a.Kind == b.Kind && mergeable(a) && mergeable(b) }

// mergeable tells whether a block is text and nothing else.
func mergeable(b *wire.Block) bool {
	switch b.Kind {
	case wire.KindText:
		return b.Extra == nil && b.Raw == nil
	case wire.KindReasoning:
		return rawjson.Size(b.Raw) == 2 // text and thought
	default:
		return false
	}
}

func goOn(b, more *wire.Block) {
	b.Text += more.Text
	if b.Kind == wire.KindReasoning {
		b.Raw = rawjson.Set(b.Raw, "text", rawjson.Quote(nil, b.Text))
	}
}

// response is the finished answer.
func (a *answer) response() *wire.Response {
	a.stop()
	setUsage(a.r, a.usage)
	if a.candidate != nil {
		list := append(append([]byte{'['}, a.candidate...), ']')
		a.extra = set(a.extra, "candidates", list)
	}
	if a.extra != nil {
		a.r.Extra = rawjson.Canonical(nil, a.extra)
	}
	if a.r.Message.Extra != nil {
		a.r.Message.Extra = rawjson.Canonical(nil, a.r.Message.Extra)
	}
	a.checkArgs()
	a.r.Problems = append(a.r.Problems, wire.DuplicateIDs(a.r.Message.Blocks)...)
	return a.r
}

// ended tells whether the end of a stream was seen: a finish reason, or the
// refusal of the prompt.
func (a *answer) ended() bool {
	return a.blocked != "" || len(a.stops) > 0 && a.stops[0] != ""
}

// streamed is the finished answer of a stream.
func (a *answer) streamed(body []byte) (*wire.Response, error) {
	if !a.known {
		return nil, wire.Unreadable(wire.GeminiGenerate, body, "a stream without an answer of this API")
	}
	r := a.response()
	r.Streamed = true
	r.Complete = a.ended() && r.Err == nil && !a.holed
	if !a.ended() && r.Err == nil {
		a.problem(wire.ProblemNoTerminal, -1, "no finishReason")
	}
	return r, nil
}

func (a *answer) checkArgs() {
	for i := range a.r.Message.Blocks {
		b := &a.r.Message.Blocks[i]
		if b.Kind != wire.KindToolCall {
			continue
		}
		if kind, detail := wire.JudgeArgs(b); kind != "" {
			a.problem(kind, i, detail)
		}
	}
}
