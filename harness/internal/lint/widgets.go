package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// widgetRule is a rule of which each widget of a server is asked.
type widgetRule struct {
	Rule
	check func(c *widgetCheck)
}

type widgetCheck struct {
	set    *Set
	widget *Widget
	rule   *widgetRule
	out    []Finding
}

// find notes a finding; where is a JSON pointer into _meta, or what of the page it
// is, "" for the whole.
func (c *widgetCheck) find(where, format string, args ...any) {
	c.out = append(c.out, c.rule.finding(c.set.widgetPlace(c.widget.URI, where), c.set.on(c.widget.URI), format, args...))
}

func (s *Set) widgetPlace(uri, where string) Place {
	return s.Place.within(s.server()).within(fmt.Sprintf("widget %q", uri)).within(where)
}

// users are the tools that name the widget.
func (c *widgetCheck) users() []*Tool {
	var out []*Tool
	for i := range c.set.Tools {
		if t := &c.set.Tools[i]; slices.Contains(t.templates(), c.widget.URI) {
			out = append(out, t)
		}
	}
	return out
}

func widgetRules() []widgetRule {
	return slices.Concat(resourceRules(), lackRules(), cspRules(), pageRules())
}

func widgetRuleList() []Rule {
	all := widgetRules()
	out := make([]Rule, 0, len(all)+2)
	for i := range all {
		out = append(out, all[i].Rule)
	}
	return append(out, widgetGolden, widgetNoGolden)
}

func (s *Set) lintWidgets() []Finding {
	var out []Finding
	rules := widgetRules()
	for i := range s.Widgets {
		for r := range rules {
			c := &widgetCheck{set: s, widget: &s.Widgets[i], rule: &rules[r]}
			if c.widget.Err == "" || c.rule.ID == "widget/reads" || c.rule.ID == "widget/scheme" {
				c.rule.check(c)
			}
			out = append(out, c.out...)
		}
	}
	return out
}

// resourceRules are the rules of what a widget says of itself.
func resourceRules() []widgetRule {
	return []widgetRule{
		{Rule{
			"widget/scheme", Error, "a widget whose address does not begin with ui://",
			"hosts show nothing else as a widget",
			"give it an address like ui://shop/gifts-v1.html", "E10",
		}, scheme},
		{Rule{
			"widget/reads", Error, "a template that a tool names and that cannot be read, or is empty",
			"the host shows an empty frame in the place of the answer",
			"serve a resource of that address, or mend the address in the tool's _meta", "E10",
		}, readable},
		{Rule{
			"widget/mime", Error, "a widget of a mime type that no host knows",
			"it is shown as text, or not at all",
			"say " + mimeApp, "E10",
		}, mime},
		{Rule{
			"widget/names-agree", Error, "an old name and a new one that say different things",
			"two hosts show two different widgets",
			"let both say the same, or drop the old name", "E10",
		}, namesAgree},
		{Rule{
			"widget/old-names", Warning, "ChatGPT's old names without those of the standard",
			"hosts that follow the standard do not see what they say",
			"say the same under _meta.ui", "E10",
		}, oldNames},
	}
}

// lackRules are the rules of what a widget leaves unsaid.
func lackRules() []widgetRule {
	return []widgetRule{
		{Rule{
			"widget/unversioned", Warning, "an address without a version",
			"hosts keep the HTML that they saw when the app was registered: a changed page under the old address is not shown",
			"put a version or a hash into the address (gifts-v2.html), and a new one with each change", "E10",
		}, unversioned},
		{Rule{
			"widget/no-domain", Warning, "a widget without a domain of its own",
			"it shares an origin with other apps' widgets, and shops for apps refuse it",
			"say _meta.ui.domain", "E10",
		}, noDomain},
		{Rule{
			"widget/no-border", Warning, "a widget that does not say whether it wants a border",
			"each host decides for itself, and it looks broken on one of them",
			"say _meta.ui.prefersBorder", "E10",
		}, noBorder},
		{Rule{
			"widget/no-description", Warning, "a widget that nothing describes",
			"the model repeats in words what the widget already shows",
			"say in the resource's description, or under " + oldDescribe + ", what it shows", "E10",
		}, undescribed},
	}
}

func scheme(c *widgetCheck) {
	if !strings.HasPrefix(c.widget.URI, "ui://") {
		c.find("", "its address does not begin with ui://")
	}
}

func readable(c *widgetCheck) {
	if c.widget.Err != "" {
		c.find("", "it cannot be read: %s", c.widget.Err)
	}
}

func mime(c *widgetCheck) {
	if m := strings.ReplaceAll(c.widget.MIME, " ", ""); m != mimeApp && m != mimeOld {
		c.find("", "its mime type is %q", c.widget.MIME)
	}
}

var version = regexp.MustCompile(`(?i)[-_./@=]v?\d|[0-9a-f]{8}`)

func unversioned(c *widgetCheck) {
	if _, rest, ok := strings.Cut(c.widget.URI, "://"); ok && !version.MatchString(rest) {
		c.find("", "its address has no version")
	}
}

func noDomain(c *widgetCheck) {
	if c.widget.ui().text("domain") == "" && c.widget.Meta.text(oldDomain) == "" {
		c.find("", "it has no domain")
	}
}

func noBorder(c *widgetCheck) {
	if c.widget.ui()["prefersBorder"] == nil && c.widget.Meta[oldBorder] == nil {
		c.find("", "it does not say whether it wants a border")
	}
}

func undescribed(c *widgetCheck) {
	if c.widget.Description == "" && c.widget.Meta.text(oldDescribe) == "" {
		c.find("", "nothing says what it shows")
	}
}

// twins are the old names of what the standard has a name for.
var twins = []struct{ old, name string }{{oldCSP, "csp"}, {oldDomain, "domain"}, {oldBorder, "prefersBorder"}}

func oldNames(c *widgetCheck) {
	for _, twin := range twins {
		if c.widget.Meta[twin.old] != nil && c.widget.ui()[twin.name] == nil {
			c.find("/_meta/"+escape(twin.old), "%s is said, and ui.%s is not", twin.old, twin.name)
		}
	}
	if strings.ReplaceAll(c.widget.MIME, " ", "") == mimeOld {
		c.find("", "its mime type is the old one, %s", mimeOld)
	}
	for _, t := range c.users() {
		meta := objectOf(t.Meta)
		if meta.text(oldTemplate) == c.widget.URI && meta.object("ui").text("resourceUri") == "" && meta.text("ui/resourceUri") == "" {
			c.find("", "the tool %q names it by %s alone", t.Name, oldTemplate)
		}
	}
}

func namesAgree(c *widgetCheck) {
	for _, twin := range twins {
		old, now := c.widget.Meta[twin.old], c.widget.ui()[twin.name]
		if twin.name == "csp" {
			old, now = plainCSP(old), plainCSP(now)
		}
		if old != nil && now != nil && fmt.Sprint(old) != fmt.Sprint(now) {
			c.find("/_meta/"+escape(twin.old), "%s says %v, and ui.%s says %v", twin.old, old, twin.name, now)
		}
	}
	for _, t := range c.users() {
		if uris := t.templates(); len(uris) > 1 && uris[0] == c.widget.URI {
			c.find("", "the tool %q names it, and %q by another name", t.Name, uris[1])
		}
	}
}
