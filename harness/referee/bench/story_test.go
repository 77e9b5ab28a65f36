package bench_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A story is what happens in one scenario: what the customer says, what the
// model answers, and what the agent therefore asks. It depends on its number
// alone.
type story struct {
	id      string
	prompt  string
	order   string
	answers [][]byte // of the model, as the API sends them
	final   string
}

const (
	model  = "claude-opus-4-8"
	system = "You are the support agent of a shop for kitchen ware. Before you act on an order, look it up. Before you " +
		"promise anything, search the knowledge base for the rule that applies. Refund only what a rule allows, never more than " +
		"the order's total, and only once. Say what you did in at most three sentences, name the refund's id, and stay friendly " +
		"even when the customer is not."
)

// shopTool is a tool as its three users declare it.
type shopTool struct {
	Name, Description, Schema string
	Write                     bool
}

func shopTools() []shopTool {
	return []shopTool{
		{
			Name: "lookup_order", Description: "Look up one order by its number: its state, its total in cents, its items and, if wanted, its history.",
			Schema: `{"type":"object","properties":{"order_id":{"type":"string","description":"The order's number, such as A-000123"},"history":{"type":"boolean","description":"Whether its history is wanted"}},"required":["order_id"],"additionalProperties":false}`,
		},
		{
			Name: "search_kb", Description: "Search the knowledge base for rules and instructions; the best matches come first.",
			Schema: `{"type":"object","properties":{"query":{"type":"string","description":"Words to look for"},"limit":{"type":"integer","minimum":1,"maximum":9,"description":"The most articles to return"},"language":{"type":"string","enum":["en","fr","pl"],"description":"The language of the articles"}},"required":["query"],"additionalProperties":false}`,
		},
		{
			Name: "issue_refund", Description: "Pay back an amount in cents for an order. Only once per order, and never more than its total.", Write: true,
			Schema: `{"type":"object","properties":{"order_id":{"type":"string","description":"The order's number"},"amount_cents":{"type":"integer","minimum":1,"description":"The amount, in cents"},"reason":{"type":"string","description":"Why, in a few words"}},"required":["order_id","amount_cents","reason"],"additionalProperties":false}`,
		},
	}
}

// runTool is the shop. What it answers depends on the arguments alone.
func runTool(name string, args []byte) (string, error) {
	var a struct {
		Order    string `json:"order_id"`
		Query    string `json:"query"`
		Limit    int    `json:"limit"`
		Language string `json:"language"`
		Amount   int    `json:"amount_cents"`
		Reason   string `json:"reason"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return "", err
	}
	switch name {
	case "lookup_order":
		return fmt.Sprintf(`{"order_id":%q,"state":"delivered","total_cents":15400,"items":[{"sku":"PAN-%s","count":1},{"sku":"LID-%s","count":2}],"history":["ordered 2026-04-02","packed 2026-04-03","sent 2026-04-03","delivered 2026-04-07"]}`, a.Order, a.Order, a.Order), nil
	case "search_kb":
		return fmt.Sprintf(`{"query":%q,"language":%q,"articles":["Within 30 days of delivery an order is paid back in full.","What arrives broken need not be sent back if it is reported within 14 days.","Postage is paid back for broken goods only."],"limit":%d}`, a.Query, a.Language, a.Limit), nil
	case "issue_refund":
		return fmt.Sprintf(`{"refund_id":"R-%s","order_id":%q,"amount_cents":%d,"state":"issued","reason":%q}`, a.Order, a.Order, a.Amount, a.Reason), nil
	}
	return "", fmt.Errorf("the shop has no tool %q", name)
}

// dice give the same numbers for the same seed (xorshift64*).
type dice uint64

func (d *dice) below(n int) int {
	x := uint64(*d)
	x ^= x >> 12
	x ^= x << 25
	x ^= x >> 27
	*d = dice(x)
	return int((x * 0x2545F4914F6CDD1D) >> 33 % uint64(n))
}

func (d *dice) words(n int) string {
	const vocabulary = "copper kettle ladle whisk oven tray glass handle rim spout cork lid steel wooden board knife crack dent scratch parcel courier doorstep receipt voucher blue enamel heavy small second other left inner"
	all := strings.Fields(vocabulary)
	picked := make([]string, n)
	for i := range picked {
		picked[i] = all[d.below(len(all))]
	}
	return strings.Join(picked, " ")
}

func newStory(n int) story {
	d := dice(0x9E3779B97F4A7C15 ^ uint64(n+1)*0xBF58476D1CE4E5B9)
	s := story{id: fmt.Sprintf("s%05d", n), order: fmt.Sprintf("A-%06d", n)}
	s.prompt = fmt.Sprintf("Hello, order %s came today and the %s is broken, and the %s has a %s. I wrote about the %s before, without an answer. I would like my money back.",
		s.order, d.words(3), d.words(4), d.words(2), d.words(7))
	amount := 500 + d.below(14900)
	s.final = fmt.Sprintf("I am sorry about the %s. I have paid back %d cents for order %s (refund R-%s); keep the %s, you need not send anything back. Thank you for writing about the %s.",
		d.words(3), amount, s.order, s.order, d.words(3), d.words(5))
	language := []string{"en", "fr", "pl"}[d.below(3)]
	s.answers = [][]byte{
		answer(&d, 0, "tool_use", text("Let me look at the order and at our rules on the "+d.words(4)+"."),
			call(&d, "lookup_order", fmt.Sprintf(`{"order_id":%q,"history":%t}`, s.order, d.below(2) == 0)),
			call(&d, "search_kb", fmt.Sprintf(`{"query":"broken %s","limit":%d,"language":%q}`, d.words(3), 1+d.below(9), language))),
		answer(&d, 1, "tool_use", text("The rules cover this: "+d.words(6)+"."),
			call(&d, "issue_refund", fmt.Sprintf(`{"order_id":%q,"amount_cents":%d,"reason":"broken %s"}`, s.order, amount, d.words(3)))),
		answer(&d, 2, "end_turn", text(s.final)),
	}
	return s
}

func text(t string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, t) }

func call(d *dice, name, args string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":"toolu_01%08x%08x","name":%q,"input":%s}`, d.below(1<<31), d.below(1<<31), name, args)
}

func answer(d *dice, turn int, stop string, blocks ...string) []byte {
	return fmt.Appendf(nil, `{"id":"msg_01%08x","type":"message","role":"assistant","model":%q,"content":[%s],"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":%d}}`,
		d.below(1<<31), model, strings.Join(blocks, ","), stop, 700+280*turn+d.below(90), 50+d.below(100))
}
