package lint_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/internal/render"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

const (
	giftOutput = `{"type":"object","properties":{"ok":{"type":"boolean"},"gifts":{"type":"array","items":{"type":"object","properties":{
"name":{"type":"string"},"picture_url":{"type":"string"},"sold":{"type":"string","format":"date"},"cents":{"type":"integer"}},"required":["name"]}},
"noResultsReason":{"type":"string"},"error":{"$ref":"#/$defs/error"}},"required":["ok"],"$defs":{"error":{"type":"object"}}}`
	giftPage = `<ul data-bind="gifts"><li data-bind="gifts.name"></ul><p data-bind="noResultsReason">`
)

func giftSet(output, mime string) *lint.Set {
	return &lint.Set{
		Name: "shop", Server: true,
		Tools:   []lint.Tool{{Decl: tool.Decl{Name: "find_gift", Output: jsontext.Value(output)}, Meta: jsontext.Value(`{"ui":{"resourceUri":"` + uri + `"}}`)}},
		Widgets: []lint.Widget{{URI: uri, MIME: mime, HTML: giftPage, Meta: map[string]any{"ui": map[string]any{"csp": map[string]any{"connectDomains": []any{"https://api.example.com"}}}}}},
	}
}

// fed is what a page was shown with.
func fed(p render.Page) string {
	switch r := string(p.Result); {
	case strings.Contains(r, "data-retake-markup") || strings.Contains(r, `\u003cb`):
		return "markup"
	case strings.Contains(r, `"isError":true`):
		return "error"
	case strings.Contains(r, `"gifts":[]`):
		return "empty"
	default:
		return "results"
	}
}

// good is a widget as it should be.
func good(state string) render.Seen {
	text := map[string]string{
		"results": "Name 1\nNAME  2", "empty": "Nothing: No results reason 1", "error": "The service does not answer just now.\nAsk again in a moment.", "markup": "<b>",
	}[state]
	v := render.Seen{Looked: true, Started: true, Text: text}
	for line := range strings.SplitSeq(text, "\n") {
		v.Texts = append(v.Texts, render.Text{Text: line})
	}
	return v
}

var renderRows = []struct {
	why    string
	change func(state string, v *render.Seen)
	want   []string // rule: part of its message
	notes  string
}{
	{why: "a sound one", change: func(string, *render.Seen) {}},
	{
		"an endless spinner on an error", func(s string, v *render.Seen) {
			if s == "error" {
				v.Waiting = []string{`aria-busy="true"`}
			}
		},
		[]string{`widget/renders-error: given an error, it still waits: aria-busy="true"`},
		"",
	},
	{
		"nothing is shown of what was not found", func(s string, v *render.Seen) {
			if s == "empty" {
				v.Text, v.Texts = " \n", nil
			}
		},
		[]string{"widget/renders-empty: given an empty answer, it shows nothing"},
		"",
	},
	{
		"no reason", func(s string, v *render.Seen) {
			if s == "empty" {
				v.Text = "No gifts"
			}
		},
		[]string{"widget/renders-empty: it does not show the reason why nothing was found (noResultsReason)"},
		"",
	},
	{
		"a field that is bound is not shown, on the telephone", func(s string, v *render.Seen) {
			if s == "results" && v.Width == 390 {
				v.Text = "Name 1"
			}
		},
		[]string{`widget/renders-results: it does not show "Name 2", which is bound to gifts.name (390 px wide)`},
		"",
	},
	{
		"an error alone, under a heading", func(s string, v *render.Seen) {
			if s == "error" {
				v.Texts = []render.Text{{Text: "Something has gone quite wrong", Heading: true}, {Text: "The service does not answer just now."}}
			}
		},
		[]string{"widget/error-next: given an error, it does not say what to do next"},
		"",
	},
	{
		"a button is something to do", func(s string, v *render.Seen) {
			if s == "error" {
				v.Texts, v.Controls = nil, 1
			}
		}, nil, "",
	},
	{
		"words of the programming language", func(_ string, v *render.Seen) { v.Text += " undefined NaN [object Object] undefinedly" },
		[]string{
			`widget/raw-value: given an empty answer, it shows "NaN"`, `widget/raw-value: given an empty answer, it shows "[object Object]"`, `widget/raw-value: given an empty answer, it shows "undefined"`,
			`widget/raw-value: given an error, it shows "NaN"`, `widget/raw-value: given an error, it shows "[object Object]"`, `widget/raw-value: given an error, it shows "undefined"`,
			`widget/raw-value: given results, it shows "NaN"`, `widget/raw-value: given results, it shows "[object Object]"`, `widget/raw-value: given results, it shows "undefined"`,
		},
		"",
	},
	{
		"an exception with a hostile text", func(s string, v *render.Seen) {
			if s == "empty" {
				v.Errors = []string{"x\x1b[31m\n"}
			}
		},
		[]string{`widget/script-error: given an empty answer: "x\x1b[31m\n"`},
		"",
	},
	{
		"markup", func(s string, v *render.Seen) { v.Markup = s == "markup" },
		[]string{"widget/markup-runs: a text of the answer became an element of its page"},
		"",
	},
	{
		"requests", func(_ string, v *render.Seen) {
			v.Refused = []string{"connect-src https://evil.example/x", "img-src file", "script-src-elem inline", "img-src https://example.com/", "img-src data"}
		},
		[]string{
			`widget/undeclared-request: it asks "https://evil.example/x", which its CSP does not let it (connect-src)`,
			"widget/undeclared-request: it loads something by an address without a host (img-src), where no host has anything",
		},
		"",
	},
	{
		"it goes away", func(_ string, v *render.Seen) {
			*v = render.Seen{Width: v.Width, Left: []string{"https://gone.example"}}
		},
		[]string{`widget/undeclared-request: it leaves its page for "https://gone.example" by itself`},
		"",
	},
	{
		"its page is gone", func(s string, v *render.Seen) { v.Looked = s != "results" },
		[]string{"widget/renders-results: given results, its page is gone"},
		"",
	},
	{
		"it does not speak to its host", func(s string, v *render.Seen) { v.Started = s != "error" },
		[]string{"widget/renders-error: it never says ui/notifications/initialized, so that a host does not give it an error"},
		"",
	},
	{
		"what it needs is out of reach", func(s string, v *render.Seen) {
			if s == "results" {
				v.Asked, v.Text = []string{"https://api.example.com"}, ""
			}
		}, nil, "given results, it needs https://api.example.com, and there is no network here: not judged (390 px wide)",
	},
	{
		"what is drawn nobody can read", func(_ string, v *render.Seen) { v.Drawn, v.Text = 1, "" }, nil, "",
	},
	{
		"wider than its frame", func(s string, v *render.Seen) {
			if s == "results" && v.Width == 390 {
				v.Wide = 210
			}
		},
		[]string{"widget/overflows: given results, it is 210 px wider than its frame (390 px wide)"},
		"",
	},
}

func TestRender(t *testing.T) {
	for _, tc := range renderRows {
		t.Run(tc.why, func(t *testing.T) {
			set := giftSet(giftOutput, "text/html;profile=mcp-app")
			shown, err := set.Render(t.Context(), &lint.Rendering{Show: func(_ context.Context, p render.Page) ([]render.View, error) {
				if d := cmp.Diff(render.Policy{Connect: []string{"https://api.example.com"}}, p.Policy); d != "" || p.Older {
					t.Errorf("policy (-want +got):\n%s", d)
				}
				return views(func(v *render.Seen) {
					tc.change(fed(p), v)
				}, good(fed(p))), nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, messages(shown.Findings)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if all := strings.Join(shown.Notes, "\n"); !strings.Contains(all, tc.notes) || tc.notes == "" && all != "" {
				t.Errorf("notes: %q, want %q", all, tc.notes)
			}
			if len(shown.Pictures) != 12 {
				t.Errorf("%d pictures of three states, two sizes, light and dark", len(shown.Pictures))
			}
		})
	}
}

func views(change func(*render.Seen), seen render.Seen) []render.View {
	var out []render.View
	for _, s := range render.Sizes() {
		v := seen
		v.Width = s.Width
		change(&v)
		out = append(out, render.View{Seen: v})
	}
	return out
}

func messages(found []lint.Finding) []string {
	var out []string
	for i := range found {
		out = append(out, found[i].Rule+": "+found[i].Message)
	}
	slices.Sort(out)
	return out
}

// What a widget is given: a project's example, an answer of its tool, or what is made
// up of the tool's schema.
func TestRenderFeeds(t *testing.T) {
	const (
		madeResults = `{"isError":false,"structuredContent":{"gifts":[{"cents":1201,"name":"Name 1","picture_url":"data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=","sold":"2026-01-15"},{"cents":1551,"name":"Name 2","picture_url":"data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=","sold":"2026-01-15"}],"ok":true}}`
		madeEmpty   = `{"isError":false,"structuredContent":{"gifts":[],"noResultsReason":"No results reason 1","ok":true}}`
		madeError   = `{"isError":true,"structuredContent":{"error":{"code":"UPSTREAM_UNAVAILABLE","message":"The service does not answer just now.","retryable":true},"ok":false}}`
	)
	for _, tc := range []struct {
		why      string
		output   string
		examples map[string]string
		answer   *mcptool.Answer
		want     map[string]string
		notes    int
	}{
		{why: "made up", output: giftOutput, want: map[string]string{"results": madeResults, "empty": madeEmpty, "error": madeError}},
		{
			why: "examples", output: giftOutput,
			examples: map[string]string{"results": `{"gifts":[{"name":"Mug"}]}`, "error": `{"content":[],"isError":true}`},
			want: map[string]string{
				"results": `{"isError":false,"structuredContent":{"gifts":[{"name":"Mug"}]}}`, "empty": madeEmpty, "error": `{"isError":true}`,
			},
		},
		{
			why: "an answer", output: giftOutput, answer: &mcptool.Answer{Structured: jsontext.Value(`{"gifts":[{"name":"Pot"}]}`)},
			want: map[string]string{"results": `{"isError":false,"structuredContent":{"gifts":[{"name":"Pot"}]}}`, "empty": madeEmpty, "error": madeError},
		},
		{
			why: "an answer that is an error is none", output: giftOutput, answer: &mcptool.Answer{IsError: true, Structured: jsontext.Value(`{"ok":false}`)},
			want: map[string]string{"results": madeResults, "empty": madeEmpty, "error": madeError},
		},
		{why: "a tool that says nothing of its answers", want: map[string]string{"error": madeError}, notes: 2},
		{
			why: "an error that does not fit the schema is a text", output: `{"type":"object","properties":{"gifts":{"type":"array","items":{"const":"x"}}},"additionalProperties":false}`,
			want: map[string]string{
				"results": `{"isError":false,"structuredContent":{"gifts":["x","x"]}}`, "empty": `{"isError":false,"structuredContent":{"gifts":[]}}`, "error": `{"isError":true}`,
			},
		},
		{
			why: "a schema that nothing made up fits", output: `{"type":"object","properties":{"gifts":{"type":"array","items":{"type":"string","pattern":"^[A-Z]{9}$"}}}}`, notes: 1,
			want: map[string]string{"empty": `{"isError":false,"structuredContent":{"gifts":[]}}`, "error": madeError},
		},
		{
			why:    "one of two forms, the other an error's; and a schema that contains itself",
			output: `{"$ref":"#/$defs/a","$defs":{"a":{"oneOf":[{"type":"object","properties":{"error":{"type":"object"}},"required":["error"]},{"type":"object","properties":{"gifts":{"type":"array","maxItems":1,"items":{"$ref":"#/$defs/t"}}},"required":["gifts"]}]},"t":{"type":"object","properties":{"below":{"$ref":"#/$defs/t"}}}}}`,
			want: map[string]string{
				"results": `{"isError":false,"structuredContent":{"gifts":[{"below":{"below":{"below":{"below":{}}}}}]}}`, "empty": `{"isError":false,"structuredContent":{"gifts":[]}}`, "error": madeError,
			},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := make(chan [2]string, 20)
			r := &lint.Rendering{Show: func(_ context.Context, p render.Page) ([]render.View, error) {
				if !p.Dark && fed(p) != "markup" {
					got <- [2]string{fed(p), string(p.Result)}
				}
				return nil, nil
			}}
			if tc.answer != nil {
				r.Answers = map[string]mcptool.Answer{"find_gift": *tc.answer}
			}
			r.Example = func(_, state string) (jsontext.Value, error) {
				if text := tc.examples[state]; text != "" {
					return jsontext.Value(text), nil
				}
				return nil, nil
			}
			shown, err := giftSet(tc.output, "text/html;profile=mcp-app").Render(t.Context(), r)
			if err != nil || len(shown.Notes) != tc.notes {
				t.Errorf("%v; notes: %q", err, shown.Notes)
			}
			close(got)
			all := map[string]string{}
			for g := range got {
				if g[0] == "results" && all[g[0]] != "" {
					continue // its texts are no markup
				}
				all[g[0]] = withoutText(t, g[1])
			}
			if d := cmp.Diff(tc.want, all); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// withoutText is a result without its text, which says the same again.
func withoutText(t *testing.T, result string) string {
	t.Helper()
	var members map[string]jsontext.Value
	if err := json.Unmarshal([]byte(result), &members); err != nil {
		t.Fatal(err)
	}
	if members["content"].Kind() != '[' {
		t.Errorf("a result without content: %s", result)
	}
	delete(members, "content")
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRenderTellsWhatItCannotShow(t *testing.T) {
	set := giftSet(giftOutput, "text/html+skybridge")
	shown, err := set.Render(t.Context(), &lint.Rendering{Show: func(_ context.Context, p render.Page) ([]render.View, error) {
		if !p.Older {
			t.Error("a widget of the old type has no window.openai")
		}
		if fed(p) == "results" {
			return nil, render.ErrHangs
		}
		return views(func(v *render.Seen) { v.Started = false }, good(fed(p))), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"widget/renders-results: given results, its script never comes to rest"}, messages(shown.Findings)); d != "" {
		t.Error(d)
	}
	_, err = set.Render(t.Context(), &lint.Rendering{Show: func(context.Context, render.Page) ([]render.View, error) { return nil, fmt.Errorf("no display") }})
	if err == nil || !strings.Contains(err.Error(), "no display") {
		t.Errorf("%v", err)
	}
	set.Tools = nil
	shown, err = set.Render(t.Context(), &lint.Rendering{})
	if err != nil || len(shown.Notes) != 1 {
		t.Errorf("%v, %q", err, shown.Notes)
	}
}

// The index is Markdown, whatever the widget and its texts are called.
func TestIndex(t *testing.T) {
	s := lint.Shown{
		Pictures: []lint.Picture{{Widget: "ui://shop/a_b.html", State: "results", Width: 390, Dark: true}},
		Findings: []lint.Finding{{Rule: "widget/raw-value", Severity: lint.Error, Message: "<img src=x>\u202e\n# [a](javascript:x)", Mend: "mend"}},
	}
	const want = `# The widgets of shop

## ui://shop/a\_b.html

### results

![results, 390 px, dark](a-results-390-dark.png)

### empty

not shown

### error

not shown

## Found

- error widget/raw-value: : \<img src=x\>\\u202e\\u000a\# \[a\](javascript:x); mend
`
	if d := cmp.Diff(want, string(s.Index("shop", func(string) string { return "a" }))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
