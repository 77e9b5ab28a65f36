package giftgenius_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/example/giftgenius"
)

// open opens a shop on a file of the test's own, or on options.File.
func open(t *testing.T, o giftgenius.Options) *giftgenius.Shop {
	t.Helper()
	if o.File == "" {
		o.File = filepath.Join(t.TempDir(), "shop.db")
	}
	if o.DailyLimit == 0 {
		o.DailyLimit = 1000
	}
	shop, err := giftgenius.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shop.Close() })
	return shop
}

// connect gives a client of the shop's MCP server.
func connect(t *testing.T, shop *giftgenius.Shop) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	if _, err := giftgenius.NewServer(shop, "local", nil).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// answer is what a tool answered.
type answer struct {
	text    string
	isError bool
	OK      bool
	Error   struct {
		Code, Message string
		Retryable     bool
	}
	Gifts   []struct{ ID, Description string }
	Reason  string `json:"noResultsReason"`
	DraftID string `json:"draft_id"`
	OrderID string `json:"order_id"`
	Total   int
	Sent    []struct{ Item int }
	Failed  []int
}

func parse(t *testing.T, text string, isError bool) answer {
	t.Helper()
	a := answer{text: text, isError: isError}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("the answer %s: %v", text, err)
	}
	return a
}

// call calls a tool of the shop for a tenant.
func call(t *testing.T, shop *giftgenius.Shop, tenant, tool, args string) answer {
	t.Helper()
	r := shop.Call(context.WithoutCancel(t.Context()), tenant, shop.Tool(tool), json.RawMessage(args))
	return parse(t, r.Text, r.IsError)
}

func TestTools(t *testing.T) {
	session := connect(t, open(t, giftgenius.Options{}))
	tests := []struct {
		name, why  string
		tool, args string
		code       string // "": ok
		retryable  bool
	}{
		{name: "suggest", why: "the usual case", tool: "suggest_gifts", args: `{"age":30,"relationship_type":"friend","budget_max":40}`},
		{name: "whole number with a point", why: "JSON has one kind of number: 30.0 is an integer", tool: "suggest_gifts", args: `{"age":30.0,"relationship_type":"friend"}`},
		{name: "nothing found", why: "an empty list is no error", tool: "suggest_gifts", args: `{"age":30,"relationship_type":"friend","budget_max":1}`},
		{name: "newborn", why: "0 is an age", tool: "suggest_gifts", args: `{"age":0,"relationship_type":"child"}`},
		{name: "too old", why: "the schema's upper limit", tool: "suggest_gifts", args: `{"age":121,"relationship_type":"child"}`, code: "VALIDATION_ERROR"},
		{name: "no relationship", why: "it is required", tool: "suggest_gifts", args: `{"age":30}`, code: "VALIDATION_ERROR"},
		{name: "unknown relationship", why: "the schema's enum", tool: "suggest_gifts", args: `{"age":30,"relationship_type":"boss"}`, code: "VALIDATION_ERROR"},
		{name: "unknown argument", why: "the schema is strict", tool: "suggest_gifts", args: `{"age":30,"relationship_type":"friend","color":"red"}`, code: "VALIDATION_ERROR"},
		{name: "negative budget", why: "the schema's lower limit", tool: "suggest_gifts", args: `{"age":30,"relationship_type":"friend","budget_min":-1}`, code: "VALIDATION_ERROR"},
		{name: "budget upside down", why: "a rule that no schema can say", tool: "suggest_gifts", args: `{"age":30,"relationship_type":"friend","budget_min":50,"budget_max":20}`, code: "VALIDATION_ERROR"},
		{name: "no key", why: "a write without a key is refused", tool: "create_checkout_session", args: `{"gift_id":"gift-mug"}`, code: "VALIDATION_ERROR"},
		{name: "empty key", why: "it would be everybody's", tool: "create_checkout_session", args: `{"gift_id":"gift-mug","idempotency_key":""}`, code: "VALIDATION_ERROR"},
		{name: "odd key", why: "keys are of letters, digits, - and _", tool: "create_checkout_session", args: `{"gift_id":"gift-mug","idempotency_key":"a b"}`, code: "VALIDATION_ERROR"},
		{name: "long key", why: "65 characters are one too many", tool: "create_checkout_session", args: `{"gift_id":"gift-mug","idempotency_key":"` + long(65) + `"}`, code: "VALIDATION_ERROR"},
		{name: "longest key", why: "64 are not", tool: "create_checkout_session", args: `{"gift_id":"gift-mug","idempotency_key":"` + long(64) + `"}`},
		{name: "checkout", why: "the usual case", tool: "create_checkout_session", args: `{"gift_id":"gift-mug","idempotency_key":"k"}`},
		{name: "discontinued", why: "a business error", tool: "create_checkout_session", args: `{"gift_id":"gift-radio","idempotency_key":"d"}`, code: "DISCONTINUED"},
		{name: "no such gift", why: "a business error", tool: "prepare_order", args: `{"gift_id":"gift-moon","idempotency_key":"m"}`, code: "NOT_FOUND"},
		{name: "prepare", why: "the usual case", tool: "prepare_order", args: `{"gift_id":"gift-mug","quantity":3,"idempotency_key":"p"}`},
		{name: "no such draft", why: "nothing to commit", tool: "commit_order", args: `{"draft_id":"x","confirmed_total_cents":1,"idempotency_key":"c"}`, code: "NOT_FOUND"},
		{name: "cards", why: "the usual case", tool: "send_gift_cards", args: `{"cards":[{"recipient":"a@b.example","amount_cents":500}],"idempotency_key":"g"}`},
		{name: "bad card", why: "the schema of an item", tool: "send_gift_cards", args: `{"cards":[{"recipient":"nobody","amount_cents":500}],"idempotency_key":"g2"}`, code: "VALIDATION_ERROR"},
		{name: "list", why: "no argument is required", tool: "list_orders", args: `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: json.RawMessage(tt.args)})
			if err != nil {
				t.Fatal(err)
			}
			got := parse(t, res.Content[0].(*mcp.TextContent).Text, res.IsError)
			if got.Error.Code != tt.code || got.OK != (tt.code == "") || got.isError == got.OK || got.Error.Retryable != tt.retryable {
				t.Errorf("got %s, isError %v, want the code %q: %s", got.text, res.IsError, tt.code, tt.why)
			}
			fits(t, session, tt.tool, res)
		})
	}
}

func long(n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = 'k'
	}
	return string(out)
}

// fits checks that a result keeps the output schema, and says the same as text
// and as structure.
func fits(t *testing.T, session *mcp.ClientSession, tool string, res *mcp.CallToolResult) {
	t.Helper()
	for decl, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if decl.Name != tool {
			continue
		}
		text, err := json.Marshal(decl.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(res.StructuredContent); err != nil {
			t.Errorf("the result of %s does not keep its schema: %v", tool, err)
		}
	}
	var asText any
	if err := json.Unmarshal([]byte(res.Content[0].(*mcp.TextContent).Text), &asText); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(asText, res.StructuredContent); d != "" {
		t.Errorf("text and structure differ (-text +structure):\n%s", d)
	}
}
