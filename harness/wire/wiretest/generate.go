package wiretest

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/wire"
)

// texts has what breaks naive encoders; no empty text: most APIs refuse it.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"hi", "line\nbreak", `quo"te \ slash/`, "<b>&amp;</b>", "ümläut 🦀", "\u2028", "{\"json\":1}"}),
		rapid.StringMatching(`[ -~]{1,30}`))
}

// objects are arguments and the like.
func objects() *rapid.Generator[jsontext.Value] {
	return rapid.Map(rapid.SampledFrom([]string{
		`{}`, `{"city":"Paris"}`, `{"b":1,"a":[1.50,1e3,-0,null,true]}`, `{"n":{"deep":{"x":"ü\n"}}}`, `{"big":12345678901234567890}`,
	}), func(s string) jsontext.Value { return jsontext.Value(s) })
}

func requests(s Shape) *rapid.Generator[*wire.Request] {
	return rapid.Custom(func(t *rapid.T) *wire.Request {
		g := generator{t: t, shape: s}
		r := &wire.Request{Model: "test-model", Stream: rapid.Bool().Draw(t, "stream"), MaxTokens: rapid.SampledFrom([]int{0, 1, 1024}).Draw(t, "max tokens")}
		r.System = g.system()
		r.Messages = g.messages()
		r.Tools = g.tools()
		r.ToolChoice = g.choice(r.Tools)
		for _, p := range s.Params {
			if rapid.Bool().Draw(t, p.Name) {
				r.Params = append(r.Params, p)
			}
		}
		if s.Adjust != nil {
			s.Adjust(r)
		}
		return r
	})
}

type generator struct {
	t     *rapid.T
	shape Shape
	calls int
}

func (g *generator) blocks(label string, atMost int) []wire.Block {
	var out []wire.Block
	for range rapid.IntRange(1, atMost).Draw(g.t, label) {
		out = append(out, wire.Block{Kind: wire.KindText, Text: texts().Draw(g.t, "text")})
	}
	return out
}

func (g *generator) many(yes bool) int {
	if yes {
		return 3
	}
	return 1
}

func (g *generator) system() []wire.Block {
	if !g.shape.System || !rapid.Bool().Draw(g.t, "system") {
		return nil
	}
	return g.blocks("system blocks", g.many(!g.shape.OneSystem))
}

// messages are whole exchanges: user, assistant, and results when there were calls.
func (g *generator) messages() []wire.Message {
	var out []wire.Message
	for _, role := range g.shape.Roles {
		if rapid.Bool().Draw(g.t, "with "+string(role)) {
			out = append(out, wire.Message{Role: role, Blocks: g.blocks("blocks", g.many(g.shape.TextBlocks))})
		}
	}
	out = append(out, g.user(nil))
	for range rapid.IntRange(0, 3).Draw(g.t, "exchanges") {
		m := g.assistant()
		out = append(out, m, g.user(m.Blocks))
	}
	return out
}

func (g *generator) assistant() wire.Message {
	m := wire.Message{Role: wire.RoleAssistant}
	if n := len(g.shape.Blocks); n > 0 && rapid.Bool().Draw(g.t, "own block") {
		m.Blocks = append(m.Blocks, g.shape.Blocks[rapid.IntRange(0, n-1).Draw(g.t, "which")])
	}
	calls := rapid.IntRange(0, 3).Draw(g.t, "calls")
	if calls == 0 || rapid.Bool().Draw(g.t, "text too") {
		m.Blocks = append(m.Blocks, g.blocks("blocks", g.many(g.shape.TextBlocks))...)
	}
	for range calls {
		g.calls++
		b := wire.Block{Kind: wire.KindToolCall, Name: fmt.Sprintf("tool_%d", g.calls%3), Args: objects().Draw(g.t, "args")}
		if g.shape.CallIDs {
			b.ID = fmt.Sprintf("call_%d", g.calls)
		}
		m.Blocks = append(m.Blocks, b)
	}
	return m
}

// user answers the calls among blocks, or says something.
func (g *generator) user(blocks []wire.Block) wire.Message {
	m := wire.Message{Role: wire.RoleUser}
	for _, b := range blocks {
		if b.Kind == wire.KindToolCall {
			m.Blocks = append(m.Blocks, g.result(b))
		}
	}
	if len(m.Blocks) == 0 || g.shape.Mixed && rapid.Bool().Draw(g.t, "text after results") {
		m.Blocks = append(m.Blocks, g.blocks("blocks", g.many(g.shape.TextBlocks))...)
	}
	return m
}

func (g *generator) result(call wire.Block) wire.Block {
	b := wire.Block{Kind: wire.KindToolResult, ID: call.ID, Result: g.blocks("result blocks", g.many(g.shape.ResultBlocks))}
	if g.shape.ResultNames {
		b.Name = call.Name
	}
	b.IsError = g.shape.ResultErrors && rapid.Bool().Draw(g.t, "is error")
	return b
}

func (g *generator) tools() []wire.Tool {
	var out []wire.Tool
	for i := range rapid.IntRange(0, 2).Draw(g.t, "tools") {
		out = append(out, wire.Tool{
			Name:        fmt.Sprintf("tool_%d", i),
			Description: rapid.SampledFrom([]string{"", "does \"it\""}).Draw(g.t, "description"),
			Schema:      jsontext.Value(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		})
	}
	return out
}

func (g *generator) choice(tools []wire.Tool) wire.ToolChoice {
	if len(tools) == 0 {
		return wire.ToolChoice{}
	}
	c := wire.ToolChoice{Mode: rapid.SampledFrom([]wire.ChoiceMode{
		wire.ChoiceUnset, wire.ChoiceAuto, wire.ChoiceAny, wire.ChoiceTool, wire.ChoiceNone,
	}).Draw(g.t, "tool choice")}
	if c.Mode == wire.ChoiceTool {
		c.Name = tools[0].Name
	}
	if g.shape.NoParallel && c.Mode != wire.ChoiceUnset && c.Mode != wire.ChoiceNone {
		c.NoParallel = rapid.Bool().Draw(g.t, "no parallel calls")
	}
	return c
}

// answers are complete turns as a script would write them: no raw figures, no
// raw stop reason.
func answers(s Shape) *rapid.Generator[*wire.Response] {
	return rapid.Custom(func(t *rapid.T) *wire.Response {
		g := generator{t: t, shape: s}
		r := &wire.Response{ID: "resp_1", Model: "test-model", Message: g.assistant(), Stop: wire.StopDone, Complete: true}
		for _, b := range r.Message.Blocks {
			if b.Kind == wire.KindToolCall {
				r.Stop = wire.StopToolCalls
			}
		}
		if r.Stop == wire.StopDone && rapid.Bool().Draw(t, "truncated") {
			r.Stop = wire.StopTruncated
		}
		if rapid.Bool().Draw(t, "refused") { // also with its calls still in the turn
			r.Stop = wire.StopRefused
		}
		in, out := rapid.Int64Range(0, 1<<40).Draw(t, "input"), rapid.Int64Range(0, 1<<40).Draw(t, "output")
		r.Usage = wire.Usage{Input: &in, Output: &out}
		return r
	})
}
