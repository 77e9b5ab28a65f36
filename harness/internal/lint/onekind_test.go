package lint_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/jsondoc"
)

// teller says one code of bad arguments and another one of all else.
func teller(mistake, refusal string) *specimen {
	return &specimen{tools: []served{{decl: soundRead, answer: func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		code := mistake
		if strings.Contains(string(r.Params.Arguments), `"person":"`) && !strings.Contains(string(r.Params.Arguments), "retake") {
			code = refusal
		}
		if code == "" {
			return text(`{"ok":true}`), nil
		}
		res := text(fmt.Sprintf(`{"ok":false,"error":{"code":%q,"message":"person, at_most, retake_probe","retryable":false}}`, code))
		res.IsError = true
		return res, nil
	}}}}
}

func TestOneErrorKind(t *testing.T) {
	given := map[string]jsontext.Value{"find_gift": jsontext.Value(`{"person":"Ann"}`)}
	for _, tc := range []struct {
		why, mistake, refusal string
		examples              map[string]jsontext.Value
		fails                 bool   // a dependency
		want                  string // of the one finding; "" is none
		note                  bool
	}{
		{why: "two kinds have two codes", mistake: "VALIDATION_ERROR", refusal: "NOT_FOUND"},
		{why: "one code for a mistake and for what there is not", mistake: "SHOP_ERROR", refusal: "SHOP_ERROR", want: "it says SHOP_ERROR of bad arguments, and of what the tool cannot do"},
		{why: "made-up arguments may be wrong ones", mistake: "INVALID_PARAMS", refusal: "INVALID_PARAMS", note: true},
		{why: "an example's are not", mistake: "INVALID_PARAMS", refusal: "INVALID_PARAMS", examples: given, want: "it says INVALID_PARAMS of bad arguments, and of what the tool cannot do"},
		{why: "nothing but mistakes could be provoked", mistake: "VALIDATION_ERROR", note: true},
		{why: "a read that refuses as ever is no failing dependency", mistake: "INVALID_PARAMS", refusal: "INVALID_PARAMS", fails: true, note: true},
	} {
		session := connect(t, teller(tc.mistake, tc.refusal).server(t))
		set, err := lint.Read(t.Context(), session, "shop", lint.Place{})
		if err != nil {
			t.Fatal(err)
		}
		p := lint.NewProber(set, lint.Probing{Examples: tc.examples})
		p.Try(t.Context(), session)
		if tc.fails {
			p.TryFailing(t.Context(), session, "payment")
		}
		found, notes := p.Found()
		got := ""
		for _, f := range found {
			got += f.Message
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
		if noted := slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "whether each kind has a code of its own") }); noted != tc.note {
			t.Errorf("%s: notes %q", tc.why, notes)
		}
	}
}

// What a tool says may differ in a repeated answer does; what nobody gave an
// example of is told in one note.
func TestRepeatedKeys(t *testing.T) {
	second := strings.Replace(soundWrite, "create_order", "create_refund", 1)
	for _, tc := range []struct {
		why      string
		examples []string // of these tools
		volatile string
		want     []string
		note     string
	}{
		{"nothing is tried", nil, "", nil, `server "shop": not tried with a repeated idempotency key: create_order, create_refund; give --example TOOL=JSON, a call that may really be made, or drill them: retake drill`},
		{"another answer", []string{"create_order"}, "", []string{"probe/repeated-key"}, `server "shop": not tried with a repeated idempotency key: create_refund; give`},
		{"what may differ", []string{"create_order", "create_refund"}, "/n", nil, ""},
	} {
		calls := 0
		counting := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			calls++
			return text(fmt.Sprintf(`{"ok":true,"n":%d}`, calls)), nil
		}
		session := connect(t, (&specimen{tools: []served{{soundWrite, counting}, {second, counting}}}).server(t))
		set, err := lint.Read(t.Context(), session, "shop", lint.Place{})
		if err != nil {
			t.Fatal(err)
		}
		probing := lint.Probing{Key: "k", Examples: map[string]jsontext.Value{}, Volatile: map[string][]jsondoc.Pointer{}}
		for _, name := range tc.examples {
			probing.Examples[name] = jsontext.Value(`{"sku":"A-17"}`)
			if tc.volatile != "" {
				pointers, err := jsondoc.ParsePointers([]string{tc.volatile})
				if err != nil {
					t.Fatal(err)
				}
				probing.Volatile[name] = pointers
			}
		}
		p := lint.NewProber(set, probing)
		p.Try(t.Context(), session)
		found, notes := p.Found()
		found = slices.DeleteFunc(found, func(f lint.Finding) bool { return f.Rule == "probe/accepts-bad" }) // it takes anything
		if diff := cmp.Diff(tc.want, ruleIDs(found)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
		if got := strings.Join(notes, "\n"); !strings.HasPrefix(got, tc.note) || tc.note == "" && got != "" {
			t.Errorf("%s: notes %q", tc.why, notes)
		}
	}
}
