package fault

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// parallelBurst is a turn with many calls at once. In real life a model looks up
// twenty things in one turn; a program without a cap on what runs at once falls
// over its own tool, and one that answers in several messages is refused. A right
// loop keeps its cap and answers every id once, in one message.
var parallelBurst = Fault{
	Name:   "model.parallel_burst",
	What:   "the model makes many calls of a read at once",
	Breaks: "results are lost, mixed up or sent in several messages, or the tool is overrun",
	Right:  "every id answered once, in one message; the cap on calls at once holds",
	Takes:  []Param{{"count", "10"}},
	Seen:   true,
	fits: func(p *Place, s *Spec) string {
		if why := cmp.Or(rewritable(p, s), p.alone()); why != "" {
			return why
		}
		n := p.firstRead()
		if n < 0 {
			return "the answer calls no tool that is declared as a read"
		}
		if b := &p.Answer.Message.Blocks[n]; varied(p.Decls[b.Name], b.Args, 2) == nil {
			return "no argument of the call can be varied within its schema"
		}
		return ""
	},
	model: func(s *strike) (*http.Response, error) {
		n := s.held.place.firstRead()
		return s.rewrite(func(r *wire.Response) {
			r.Message.Blocks = insert(r.Message.Blocks, n+1, s.burst(r.Message.Blocks[n])...)
		})
	},
}

// burstCount is how many calls a burst has by default.
const burstCount = 10

// firstRead is the block of the first call of a declared read, -1 for none.
func (p *Place) firstRead() int {
	return slices.IndexFunc(p.Answer.Message.Blocks, func(b wire.Block) bool {
		spec := p.Decls[b.Name]
		return plainCall(b) && spec != nil && !spec.Decl.Writes()
	})
}

// burst are the calls that are made beside b. The tools answer them with what b
// was recorded to get.
func (s *strike) burst(b wire.Block) []wire.Block {
	more := make([]wire.Block, 0, burstCount)
	for n := 2; n <= cmp.Or(s.params().Count, burstCount); n++ {
		c := s.again(b, "burst", n)
		c.Args = varied(s.held.place.Decls[b.Name], b.Args, n)
		s.injector.standIn(c, b.Args)
		more = append(more, c)
	}
	return more
}

// varied are the arguments with another text in the first field that may have one;
// nil where none may.
func varied(spec *tool.Spec, args jsontext.Value, n int) jsontext.Value {
	for c := rawjson.InObject(args); c.More(); {
		name, value := c.Member()
		text, ok := rawjson.Text(value)
		if !ok {
			continue
		}
		other := rawjson.Set(args, string(name), rawjson.Quote(nil, text+" "+strconv.Itoa(n)))
		if len(spec.Input.Check(other)) == 0 {
			return other
		}
	}
	return nil
}

// callKey finds a made-up call where it is run: by its id, and where the API gives
// none by what it asks for.
func callKey(name, id string, args jsontext.Value) string {
	if id != "" {
		return id
	}
	return string(rawjson.Canonical([]byte(name+"\x00"), args))
}

// standIn notes that a call is made up, and of which arguments.
func (i *Injector) standIn(c wire.Block, args jsontext.Value) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.originals[callKey(c.Name, c.ID, c.Args)] = args
}

// fromOriginals gives the executor of a tool, for calls that a fault made up, the
// arguments that there is an answer for.
func (i *Injector) fromOriginals(next tool.Executor) tool.Executor {
	return tool.ExecutorFunc(func(ctx context.Context, c tool.Call) (tool.Result, error) {
		i.mu.Lock()
		if len(i.originals) > 0 {
			if args, ok := i.originals[callKey(c.Tool, c.ID, c.Args)]; ok {
				c.Args = args
			}
		}
		i.mu.Unlock()
		return next.Execute(ctx, c)
	})
}
