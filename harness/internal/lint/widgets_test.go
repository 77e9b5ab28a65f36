package lint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/internal/lint"
)

const (
	uri       = "ui://shop/gifts-v1.html"
	soundMeta = `{"ui":{"csp":{"connectDomains":[],"resourceDomains":["https://cdn.example.com"]},"domain":"https://shop.example.com","prefersBorder":true}}`
	soundPage = `<main data-state="loading" aria-busy="true"><img src="https://cdn.example.com/a.png">
<section data-state="results"><ul data-bind="gifts"><template><li data-bind="gifts.name"></template></ul></section>
<section data-state="empty" data-bind="reason"></section><section data-state="error"></section></main>
<script>host.callTool("find_gift", {})</script>`
	usesWidget = `{"_meta":{"ui":{"resourceUri":"` + uri + `","visibility":["model","app"]}}}`
)

var widgetRows = []struct {
	why  string
	uri  string // "" is the sound one
	mime string
	meta string // a change of the sound one
	page func(string) string
	tool string // a change of the tool
	want []string
}{
	{why: "the sound one"},
	{why: "what it says when it is read counts", meta: `{"read":true}`},
	{why: "not a page of a host", uri: "https://shop.example/gifts-v1.html", tool: `{"_meta":{"ui":{"resourceUri":"https://shop.example/gifts-v1.html"}}}`, want: []string{"widget/scheme"}},
	{why: "a template that there is not", tool: `{"_meta":{"ui":{"resourceUri":"ui://shop/gift-v1.html"}}}`, want: []string{"widget/reads"}},
	{why: "an empty page", page: func(string) string { return " " }, want: []string{"widget/reads"}},
	{why: "plain HTML", mime: "text/html", want: []string{"widget/mime"}},
	{why: "the old type", mime: "text/html+skybridge", want: []string{"widget/old-names"}},
	{why: "a blank in the type", mime: "text/html; profile=mcp-app"},
	{why: "the old name of the template alone", tool: `{"_meta":{"openai/outputTemplate":"` + uri + `"}}`, want: []string{"widget/old-names"}},
	{why: "both names of the template", tool: `{"_meta":{"ui":{"resourceUri":"` + uri + `"},"openai/outputTemplate":"` + uri + `"}}`},
	{why: "two templates", tool: `{"_meta":{"ui":{"resourceUri":"` + uri + `"},"openai/outputTemplate":"ui://shop/old-v1.html"}}`, want: []string{"widget/names-agree", "widget/reads"}},
	{why: "two domains", meta: `{"openai/widgetDomain":"https://other.example.com"}`, want: []string{"widget/names-agree"}},
	{
		why:  "the same policy under both names",
		meta: `{"openai/widgetCSP":{"connect_domains":[],"resource_domains":["https://cdn.example.com"]}}`,
	},
	{
		why:  "a list that the old policy has no name for",
		meta: `{"ui":{"csp":{"resourceDomains":["https://cdn.example.com"],"baseUriDomains":["https://shop.example.com"]},"domain":"d","prefersBorder":true},"openai/widgetCSP":{"resource_domains":["https://cdn.example.com"]}}`,
	},
	{
		why:  "a list that the new policy has no name for",
		meta: `{"openai/widgetCSP":{"resource_domains":["https://cdn.example.com"],"redirect_domains":["https://pay.example.com"]}}`,
	},
	{why: "another policy under the old name", meta: `{"openai/widgetCSP":{"connect_domains":["https://api.example.com"],"resource_domains":["https://cdn.example.com"]}}`, want: []string{"widget/names-agree"}},
	{
		why:  "the old policy as a text, as some write it",
		meta: `{"openai/widgetCSP":"default-src 'self'"}`,
		want: []string{"widget/csp-form", "widget/names-agree"},
	},
	{why: "a list that there is not", meta: `{"ui":{"csp":{"connect_domains":[],"resourceDomains":["https://cdn.example.com"]},"domain":"d","prefersBorder":false}}`, want: []string{"widget/csp-form"}},
	{why: "everything", meta: `{"ui":{"csp":{"connectDomains":["*"],"resourceDomains":["https://cdn.example.com"]},"domain":"d","prefersBorder":false}}`, want: []string{"widget/csp-origin"}},
	{why: "no https", meta: `{"ui":{"csp":{"connectDomains":["http://api.example.com"],"resourceDomains":["https://cdn.example.com"]},"domain":"d","prefersBorder":false}}`, want: []string{"widget/csp-origin"}},
	{why: "more than an origin", meta: `{"ui":{"csp":{"connectDomains":["https://api.example.com/v1"],"resourceDomains":["https://cdn.example.com"]},"domain":"d","prefersBorder":false}}`, want: []string{"widget/csp-origin"}},
	{why: "an origin with a query", meta: `{"ui":{"csp":{"connectDomains":["https://api.example.com?key=1"],"resourceDomains":["https://cdn.example.com"]},"domain":"d","prefersBorder":false}}`, want: []string{"widget/csp-origin"}},
	{why: "an origin with a fragment", meta: `{"ui":{"csp":{"connectDomains":["https://api.example.com#key"],"resourceDomains":["https://cdn.example.com"]},"domain":"d","prefersBorder":false}}`, want: []string{"widget/csp-origin"}},
	{why: "an origin with a user", meta: `{"ui":{"csp":{"connectDomains":["https://shop@api.example.com"],"resourceDomains":["https://cdn.example.com"]},"domain":"d","prefersBorder":false}}`, want: []string{"widget/csp-origin"}},
	{why: "all hosts below one", meta: `{"ui":{"csp":{"connectDomains":[],"resourceDomains":["https://*.example.com"]},"domain":"d","prefersBorder":false}}`, want: []string{"widget/csp-wildcard"}},
	{why: "an image from elsewhere", page: func(p string) string { return p + `<img src="//img.example.net/a.png">` }, want: []string{"widget/csp-undeclared"}},
	{why: "a request to elsewhere", page: func(p string) string { return p + `<script>fetch("https://api.example.net/v1/x")</script>` }, want: []string{"widget/csp-undeclared"}},
	{why: "a style from elsewhere", page: func(p string) string { return p + `<style>@import "https://fonts.example.net/x.css"</style>` }, want: []string{"widget/csp-undeclared"}},
	{why: "a link that a person follows", page: func(p string) string { return p + `<a href="https://shop.example.net/">x</a>` }},
	{why: "no policy", meta: `{"ui":{"domain":"d","prefersBorder":false}}`, want: []string{"widget/no-csp", "widget/csp-undeclared"}},
	{why: "no domain", meta: `{"ui":{"csp":{"resourceDomains":["https://cdn.example.com"]},"prefersBorder":false}}`, want: []string{"widget/no-domain"}},
	{why: "no border said", meta: `{"ui":{"csp":{"resourceDomains":["https://cdn.example.com"]},"domain":"d"}}`, want: []string{"widget/no-border"}},
	{why: "no description", meta: `{"undescribed":true}`, want: []string{"widget/no-description"}},
	{why: "no version", uri: "ui://shop/gifts.html", tool: `{"_meta":{"ui":{"resourceUri":"ui://shop/gifts.html"}}}`, want: []string{"widget/unversioned"}},
	{why: "a hash for a version", uri: "ui://shop/gifts.deadbeef.html", tool: `{"_meta":{"ui":{"resourceUri":"ui://shop/gifts.deadbeef.html"}}}`},
	{why: "an endless spinner", page: func(p string) string {
		return strings.Replace(p, `<section data-state="error"></section>`, "", 1)
	}, want: []string{"widget/spinner"}},
	{why: "no state for nothing found", page: func(p string) string { return strings.Replace(p, `data-state="empty"`, "", 1) }, want: []string{"widget/states"}},
	{
		why: "states by styles and scripts",
		page: func(string) string {
			return `<main data-state="loading"></main><style>[data-state=empty] p, [data-state="error"] q {}</style><script>root.dataset.state = "results";</script>`
		},
	},
	{why: "a field that the answer has not", page: func(p string) string { return p + `<b data-bind="gifts.nam"></b>` }, want: []string{"widget/bound"}},
	{why: "a field behind a reference", page: func(p string) string { return p + `<b data-bind="error.message"></b>` }},
	{why: "a tool that there is not", page: func(p string) string { return p + `<script>app.callServerTool({name: "find_gifts"})</script>` }, want: []string{"widget/calls-visible"}},
	{why: "a tool that only the model sees", tool: `{"_meta":{"ui":{"resourceUri":"` + uri + `","visibility":["model"]}}}`, want: []string{"widget/calls-visible"}},
	{why: "a visibility that there is not", tool: `{"_meta":{"ui":{"resourceUri":"` + uri + `","visibility":["app","user"]}}}`, want: []string{"widget/visibility"}},
}

const widgetTool = `{
	"name": "find_gift", "description": "Finds gifts for a person within a price.",
	"inputSchema": {"type":"object","properties":{"person":{"type":"string"}},"required":["person"],"additionalProperties":false},
	"outputSchema": {"type":"object","properties":{"ok":{"type":"boolean"},"gifts":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}}},"reason":{"type":"string"},"error":{"$ref":"#/$defs/error"}},
		"$defs":{"error":{"type":"object","properties":{"message":{"type":"string"}}}}},
	"annotations": {"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}}`

func TestWidgetRules(t *testing.T) {
	for _, tc := range widgetRows {
		s := widgetSpecimen(t, tc.uri, tc.mime, tc.meta, tc.tool)
		if tc.page != nil {
			s.html = tc.page(s.html)
		}
		found := readSet(t, s).Lint()
		if diff := cmp.Diff(tc.want, ruleIDs(lint.Sort(found))); diff != "" {
			t.Errorf("%s (-want +got):\n%s%v", tc.why, diff, found)
		}
	}
}

func widgetSpecimen(tb testing.TB, at, mime, change, tool string) *specimen {
	tb.Helper()
	if at == "" {
		at = uri
	}
	if mime == "" {
		mime = "text/html;profile=mcp-app"
	}
	if tool == "" {
		tool = usesWidget
	}
	var meta mcp.Meta
	if err := json.Unmarshal([]byte(merged(tb, soundMeta, change)), &meta); err != nil {
		tb.Fatal(err)
	}
	s := &specimen{
		tools:  []served{{decl: merged(tb, widgetTool, tool)}},
		widget: &mcp.Resource{URI: at, Name: "gifts", Description: "The gifts that were found.", MIMEType: mime, Meta: meta},
		html:   soundPage, contents: mcp.ResourceContents{MIMEType: mime},
	}
	if meta["read"] == true {
		s.contents.Meta, s.widget.Meta = meta, nil
	}
	if meta["undescribed"] == true {
		s.widget.Description = ""
	}
	return s
}

// A CSP that is a text is answered with what it should be.
func TestCSPAsATextShowsTheObject(t *testing.T) {
	s := widgetSpecimen(t, "", "", `{"openai/widgetCSP":"default-src 'self'"}`, "")
	for _, f := range readSet(t, s).Lint() {
		if f.Rule == "widget/csp-form" {
			if !strings.Contains(f.Mend, `"connect_domains": [`) || f.Place.In != `server "shop", widget "`+uri+`", /_meta/openai~1widgetCSP` {
				t.Errorf("%+v", f)
			}
			return
		}
	}
	t.Error("not found")
}

func TestWidgetGolden(t *testing.T) {
	dir := t.TempDir()
	path := func(server, uri string) string {
		return filepath.Join(dir, server, filepath.Base(uri)+".golden")
	}
	s := widgetSpecimen(t, "", "", "", "")
	goldens := func(accept bool, want ...string) string {
		t.Helper()
		found, err := readSet(t, s).Goldens(path, accept)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, ruleIDs(found)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if len(found) == 0 {
			return ""
		}
		return found[0].Message
	}
	goldens(false, "widget/no-golden")
	goldens(true)
	goldens(false)
	if got, err := os.ReadFile(path("shop", uri)); err != nil || !strings.Contains(string(got), "binds   gifts.name\n") {
		t.Errorf("%v: %s", err, got)
	}
	s.html = strings.Replace(s.html, "gifts.name", "gifts.price", 1)
	if got := goldens(false, "widget/golden"); got != "its page has changed: no more binds gifts.name, now binds gifts.price" {
		t.Error(got)
	}
	s.html = strings.Replace(s.html, "gifts.price", "gifts.name", 1) + "\n"
	if got := goldens(false, "widget/golden"); got != "its page has changed" {
		t.Error(got)
	}
}
