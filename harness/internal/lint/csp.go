package lint

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/internal/suggest"
)

// The lists of a widget's content security policy.
const (
	connectDomains  = "connectDomains"
	resourceDomains = "resourceDomains"
	frameDomains    = "frameDomains"
	baseURIDomains  = "baseUriDomains"
)

// oldLists are the lists by their old names.
var oldLists = map[string]string{"connect_domains": connectDomains, "resource_domains": resourceDomains, "frame_domains": frameDomains, "redirect_domains": "redirectDomains"}

var newLists = []string{connectDomains, resourceDomains, frameDomains, baseURIDomains}

// cspRules are the rules of where a widget may load from.
func cspRules() []widgetRule {
	return []widgetRule{
		{Rule{
			"widget/csp-form", Error, "a CSP that is no object with lists of origins",
			"hosts drop what they cannot read: nothing loads, and nothing says why",
			`write _meta.ui.csp as {"connectDomains": ["https://api.example.com"], "resourceDomains": ["https://cdn.example.com"]}, and ` + oldCSP + ` as {"connect_domains": […], "resource_domains": […]}`, "E10",
		}, cspForm},
		{Rule{
			"widget/csp-origin", Error, "an entry of the CSP that is no https origin, or is a bare *",
			"a page that may talk to anybody can carry out what it is shown",
			"name each origin: https://api.example.com, without a path", "E10",
		}, cspOrigin},
		{Rule{
			"widget/csp-wildcard", Warning, "an entry of the CSP that stands for all hosts below one",
			"one forgotten host below it is enough",
			"name the hosts", "E10",
		}, cspWildcard},
		{Rule{
			"widget/csp-undeclared", Warning, "an origin that the page loads from and the CSP does not name",
			"the host blocks it, and what it brings is missing",
			"name it in the CSP, or put what it brings into the page", "E10",
		}, cspUndeclared},
		{Rule{
			"widget/no-csp", Warning, "a widget without a CSP",
			"each host falls back on its own, and shops for apps refuse it",
			`say _meta.ui.csp, with empty lists where it loads nothing: {"connectDomains": [], "resourceDomains": []}`, "E10",
		}, noCSP},
	}
}

// policy is a CSP under one of its two names.
type policy struct {
	where string
	value any
	old   bool
}

func (w *Widget) policies() []policy {
	var out []policy
	if v, ok := w.ui()["csp"]; ok {
		out = append(out, policy{"/_meta/ui/csp", v, false})
	}
	if v, ok := w.Meta[oldCSP]; ok {
		out = append(out, policy{"/_meta/" + escape(oldCSP), v, true})
	}
	return out
}

func (p policy) lists() []string {
	if p.old {
		return slices.Sorted(maps.Keys(oldLists))
	}
	return newLists
}

func cspForm(c *widgetCheck) {
	for _, p := range c.widget.policies() {
		lists, ok := p.value.(map[string]any)
		if !ok {
			c.find(p.where, "it is %s, not an object of lists", kindOf(p.value))
			continue
		}
		for _, name := range object(lists).names() {
			entries, isList := lists[name].([]any)
			switch {
			case !slices.Contains(p.lists(), name):
				c.find(p.where, "there is no list %q%s", name, suggest.Hint(name, p.lists()))
			case !isList || len(object(lists).texts(name)) != len(entries):
				c.find(p.where+"/"+name, "%q is no list of texts", name)
			}
		}
	}
}

func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case []any:
		return "a list"
	case nil:
		return "null"
	default:
		return fmt.Sprintf("%v", v)
	}
}

// origins gives each entry of the widget's policies.
func (w *Widget) origins(each func(where, list, origin string)) {
	for _, p := range w.policies() {
		lists, _ := p.value.(map[string]any)
		for _, name := range object(lists).names() {
			for _, origin := range object(lists).texts(name) {
				each(p.where+"/"+name, listName(name), origin)
			}
		}
	}
}

func listName(name string) string {
	if now, ok := oldLists[name]; ok {
		return now
	}
	return name
}

func cspOrigin(c *widgetCheck) {
	c.widget.origins(func(where, list, origin string) {
		u, err := url.Parse(origin)
		secure := err == nil && (u.Scheme == "https" || u.Scheme == "wss" && list == connectDomains)
		switch {
		case origin == "*" || err == nil && u.Host == "*":
			c.find(where, "%q lets everything in", origin)
		case !secure || u.Host == "":
			c.find(where, "%q is no https origin", origin)
		case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
			c.find(where, "%q is more than an origin", origin)
		case strings.Contains(strings.TrimPrefix(u.Host, "*."), "*"):
			c.find(where, "%q has a * in the middle of a host", origin)
		}
	})
}

func cspWildcard(c *widgetCheck) {
	c.widget.origins(func(where, _, origin string) {
		if _, host, _ := strings.Cut(origin, "://"); strings.HasPrefix(host, "*.") {
			c.find(where, "%q stands for every host below it", origin)
		}
	})
}

func cspUndeclared(c *widgetCheck) {
	for _, l := range c.widget.shown().loads {
		declared := false
		c.widget.origins(func(_, list, origin string) {
			declared = declared || list == l.kind && covers(origin, l.origin)
		})
		if !declared {
			c.find("its page", "it loads from %s, which is not in %s", l.origin, l.kind)
		}
	}
}

func covers(entry, origin string) bool {
	entry = strings.TrimSuffix(entry, "/")
	scheme, host, _ := strings.Cut(entry, "://")
	below, whole := strings.CutPrefix(host, "*")
	return entry == origin || whole && strings.HasPrefix(origin, scheme+"://") && strings.HasSuffix(origin, below)
}

func noCSP(c *widgetCheck) {
	if len(c.widget.policies()) == 0 {
		c.find("", "it has no CSP")
	}
}

// plainCSP is a policy by its new names, for comparing with one by its old names:
// what has no name among the others is left out. A value that is no policy is left
// as it is.
func plainCSP(v any) any {
	lists, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string][]string{}
	for name := range lists {
		if origins := object(lists).texts(name); len(origins) > 0 && name != "redirect_domains" && name != baseURIDomains {
			out[listName(name)] = slices.Sorted(slices.Values(origins))
		}
	}
	return out
}
