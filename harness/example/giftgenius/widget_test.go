package giftgenius_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/example/giftgenius"
)

// property is a schema, as far as a bound field needs it.
type property struct {
	Ref        string `json:"$ref"`
	Properties map[string]*property
	Items      *property
	Defs       map[string]*property `json:"$defs"`
}

// at finds a dotted path; arrays are walked.
func (p *property) at(root *property, path []string) bool {
	for p != nil && p.Items != nil {
		p = p.Items
	}
	if p != nil && p.Ref != "" {
		p = root.Defs[strings.TrimPrefix(p.Ref, "#/$defs/")]
	}
	if p == nil || len(path) == 0 {
		return p != nil
	}
	return p.Properties[path[0]].at(root, path[1:])
}

func TestWidgetBindsFieldsOfTheOutput(t *testing.T) {
	session := connect(t, open(t, giftgenius.Options{}))
	res, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: giftgenius.WidgetURI})
	if err != nil {
		t.Fatal(err)
	}
	var schema property
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Name != "suggest_gifts" {
			continue
		}
		text, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
	}
	var bound []string
	for _, m := range regexp.MustCompile(`data-(?:bind|currency)="([^"]+)"`).FindAllStringSubmatch(res.Contents[0].Text, -1) {
		bound = append(bound, m[1])
		if !schema.at(&schema, strings.Split(m[1], ".")) {
			t.Errorf("the widget shows %s, which the tool's output has not", m[1])
		}
	}
	slices.Sort(bound)
	want := []string{"error.message", "gifts", "gifts.currency", "gifts.description", "gifts.name", "gifts.price_cents", "noResultsReason"}
	if d := cmp.Diff(want, bound); d != "" {
		t.Errorf("the fields that the widget shows (-want +got):\n%s", d)
	}
}

func TestWidgetIsSelfContained(t *testing.T) {
	session := connect(t, open(t, giftgenius.Options{}))
	res, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: giftgenius.WidgetURI})
	if err != nil {
		t.Fatal(err)
	}
	html := res.Contents[0].Text
	for _, state := range []string{"loading", "results", "empty", "error"} {
		if !strings.Contains(html, `[data-state="`+state+`"]`) {
			t.Errorf("the state %s is not shown", state)
		}
	}
	for _, forbidden := range []string{"innerHTML", "insertAdjacentHTML", "document.write", "http://", "https://", "src=", "eval("} {
		if strings.Contains(html, forbidden) {
			t.Errorf("the widget has %s", forbidden)
		}
	}
}

// The list and the resource itself say the same, and the older names the same as
// the newer ones.
func TestWidgetMeta(t *testing.T) {
	session := connect(t, open(t, giftgenius.Options{}))
	var listed *mcp.Resource
	for r, err := range session.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		listed = r
	}
	res, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: giftgenius.WidgetURI})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(listed.Meta, res.Contents[0].Meta); d != "" || listed.MIMEType != res.Contents[0].MIMEType {
		t.Errorf("listed and read differ (-listed +read):\n%s", d)
	}
	ui, csp := listed.Meta["ui"].(map[string]any), listed.Meta["openai/widgetCSP"].(map[string]any)
	newer := ui["csp"].(map[string]any)
	for older, name := range map[string]string{"connect_domains": "connectDomains", "resource_domains": "resourceDomains", "frame_domains": "frameDomains"} {
		if d := cmp.Diff(csp[older], newer[name]); d != "" {
			t.Errorf("%s and %s differ:\n%s", older, name, d)
		}
	}
	if listed.Meta["openai/widgetDomain"] != ui["domain"] || listed.Meta["openai/widgetPrefersBorder"] != ui["prefersBorder"] {
		t.Errorf("the older names disagree: %v", listed.Meta)
	}
}
