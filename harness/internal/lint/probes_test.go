package lint_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/schema"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// counter is a shop that keeps its orders, with mistakes planted in it.
type counter struct {
	mistake string
	broken  bool // what it depends on fails

	mu      sync.Mutex
	results map[string]string // by the key
	orders  int
}

const findGift = `{
	"name": "find_gift", "description": "Finds gifts for a person within a price.",
	"inputSchema": {"type":"object","properties":{"person":{"type":"string","maxLength":20},"price_min":{"type":"number","minimum":0},"price_max":{"type":"number","minimum":0}},"required":["person"],"additionalProperties":false},
	"outputSchema": {"type":"object"}, "annotations": {"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}}`

func (c *counter) specimen() *specimen {
	return &specimen{tools: []served{{findGift, c.handle(findGift, c.find)}, {soundWrite, c.handle(soundWrite, c.order)}}}
}

type refused struct {
	code, message string
	retryable     bool
}

// handle checks the arguments, calls, and answers with what came of it.
func (c *counter) handle(decl string, do func(args map[string]any) (string, *refused)) mcp.ToolHandler {
	var d said
	if err := json.Unmarshal([]byte(decl), &d); err != nil {
		panic(err)
	}
	rules, err := schema.Compile(d.Input)
	if err != nil {
		panic(err)
	}
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if wrong := rules.Check(r.Params.Arguments); len(wrong) > 0 && c.mistake != "takes anything" {
			return c.answer(&refused{"VALIDATION_ERROR", wrong[0].String(), c.mistake == "retryable mistakes"})
		}
		var args map[string]any
		_ = json.Unmarshal(r.Params.Arguments, &args)
		text, no := do(args)
		if no != nil {
			return c.answer(no)
		}
		out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
		out.IsError = c.mistake == "ok with isError"
		return out, nil
	}
}

func (c *counter) answer(no *refused) (*mcp.CallToolResult, error) {
	switch c.mistake {
	case "bare exceptions":
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "ValueError: " + no.message}}}, nil
	case "protocol errors":
		return nil, fmt.Errorf("%s", no.message)
	case "one error kind":
		no = &refused{"ERROR", "person sku idempotency_key retake_probe price_min price_max: something went wrong", no.retryable}
	case "the same code for a dependency":
		no.code = "BAD_REQUEST"
	case "leaked internals":
		no.message += " (select * from orders where sku = ?; /srv/shop/orders.db)"
	case "mute refusals":
		no.message = "the arguments are wrong"
	case "a final dependency":
		no.retryable = false
	}
	text := fmt.Sprintf(`{"ok":false,"error":{"code":%q,"message":%q,"retryable":%v}}`, no.code, no.message, no.retryable)
	return &mcp.CallToolResult{IsError: c.mistake != "isError disagrees", Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}

func (c *counter) find(args map[string]any) (string, *refused) {
	least, _ := args["price_min"].(float64)
	if most, given := args["price_max"].(float64); given && least > most && c.mistake != "takes contradictions" {
		return "", &refused{"VALIDATION_ERROR", "price_min is over price_max", false}
	}
	if c.mistake == "lying read" {
		c.orders++
	}
	return `{"ok":true,"gifts":[]}`, nil
}

func (c *counter) order(args map[string]any) (string, *refused) {
	name, _ := args["idempotency_key"].(string)
	if text, ok := c.results[name]; ok && c.mistake != "writes again" && c.mistake != "writes again, and hides it" {
		return text, nil
	}
	if c.broken {
		return "", &refused{"PAYMENT_PROVIDER_ERROR", "the payment provider does not answer", true}
	}
	c.orders++
	text := fmt.Sprintf(`{"ok":true,"order":"O-%d"}`, c.orders)
	if old, ok := c.results[name]; ok && c.mistake == "writes again, and hides it" {
		text = old
	}
	c.results[name] = text
	return text, nil
}

// probe tries the shop, and the shop with a dependency that fails.
func (c *counter) probe(t *testing.T) (found []lint.Finding, notes []string) {
	t.Helper()
	c.results = map[string]string{}
	count := effect.ProbeFunc(func(context.Context) (int, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.orders, nil
	})
	session := connect(t, c.specimen().server(t))
	set, err := lint.Read(t.Context(), session, "shop", lint.Place{})
	if err != nil {
		t.Fatal(err)
	}
	p := lint.NewProber(set, lint.Probing{
		Examples: map[string]jsontext.Value{"create_order": jsontext.Value(`{"sku":"A-17"}`)},
		Effects:  map[string]effect.Probe{"orders": count}, Key: "probe-1", Writes: true,
	})
	p.Try(t.Context(), session)
	c.broken = true
	p.TryFailing(t.Context(), session, "payment")
	return p.Found()
}

var probeRows = []struct {
	mistake string
	want    []string // rules, each once
}{
	{"", nil},
	{"takes anything", []string{"probe/accepts-bad"}},
	{"takes contradictions", []string{"probe/accepts-bad"}},
	{"protocol errors", []string{"probe/protocol-error"}},
	{"bare exceptions", []string{"probe/error-form"}},
	{"retryable mistakes", []string{"probe/retryable-mistake"}},
	{"leaked internals", []string{"probe/internals"}},
	{"one error kind", []string{"probe/one-error-kind"}},
	{"the same code for a dependency", []string{"probe/one-error-kind"}},
	{"isError disagrees", []string{"probe/iserror-disagrees"}},
	{"ok with isError", []string{"probe/iserror-disagrees"}},
	{"mute refusals", []string{"probe/names-argument"}},
	{"writes again", []string{"probe/repeated-key"}},
	{"writes again, and hides it", []string{"probe/repeated-key"}},
	{"lying read", []string{"probe/read-only-lies"}},
	{"a final dependency", []string{"probe/dependency-final"}},
}

func TestProbes(t *testing.T) {
	for _, tc := range probeRows {
		c := &counter{mistake: tc.mistake}
		found, notes := c.probe(t)
		got := map[string]bool{}
		for _, f := range found {
			got[f.Rule] = true
		}
		if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(got))); diff != "" {
			t.Errorf("%q (-want +got):\n%s%v", tc.mistake, diff, found)
		}
		if tc.mistake == "" && len(notes) > 0 {
			t.Errorf("not everything was tried: %q", notes)
		}
	}
}

// gone is a server that ends at the first call.
type gone struct{ calls int }

func (g *gone) Ask(context.Context, string, jsontext.Value) mcptool.Answer {
	g.calls++
	return mcptool.Answer{Err: &tool.Error{Code: tool.CodeUpstream, Detail: "the server has ended: exit status 7"}}
}

func (g *gone) Lost() error {
	if g.calls > 0 {
		return errors.New("the server has ended")
	}
	return nil
}

// A server that breaks down is told, and left alone.
func TestServerThatBreaksDown(t *testing.T) {
	g := &gone{}
	p := lint.NewProber(&lint.Set{Name: "shop", Server: true, Tools: []lint.Tool{toolOf(t, findGift, ""), toolOf(t, soundWrite, "")}}, lint.Probing{})
	p.Try(t.Context(), g)
	found, _ := p.Found()
	if len(found) != 1 || found[0].Rule != "probe/breaks-down" || !strings.Contains(found[0].Message, "exit status 7") || g.calls != 1 {
		t.Errorf("%d calls: %v", g.calls, found)
	}
}

// Without the user's word, a write is given nothing that could have an effect.
func TestWritesAreGivenNothingToWorkWith(t *testing.T) {
	var calls []string
	s := &specimen{tools: []served{{decl: soundWrite, answer: func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		calls = append(calls, string(r.Params.Arguments))
		return text(`{"ok":true}`), nil
	}}}}
	session := connect(t, s.server(t))
	set, err := lint.Read(t.Context(), session, "shop", lint.Place{})
	if err != nil {
		t.Fatal(err)
	}
	p := lint.NewProber(set, lint.Probing{})
	p.Try(t.Context(), session)
	p.TryFailing(t.Context(), session, "payment")
	want := []string{`{}`, `{"idempotency_key":{"retake":"probe"},"sku":{"retake":"probe"}}`}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, notes := p.Found()
	if len(notes) != 2 || !strings.Contains(notes[0], "not tried with a repeated idempotency key: create_order;") || !strings.Contains(notes[1], "no tool that was called fails while payment does") {
		t.Errorf("%q", notes)
	}
}
