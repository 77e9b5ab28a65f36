package lint

import (
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/internal/suggest"
)

// pageRules are the rules of what a widget shows and does.
func pageRules() []widgetRule {
	return []widgetRule{
		{Rule{
			"widget/spinner", Error, "a page that shows that it waits, and has no state for an error",
			"a tool that fails leaves it spinning for ever, and the user waits",
			`show an error, with what to do next, in an element that data-state="error" brings up; let a time limit end the waiting`, "E11",
		}, spinner},
		{Rule{
			"widget/states", Error, "a page without one of its three states: results, empty, error",
			"nothing found, or an error, looks like a broken page",
			`mark them with data-state="results", "empty" and "error"; say in the second why it is empty, in the third what to do`, "E10",
		}, states},
		{Rule{
			"widget/bound", Error, "a field that the page binds (data-bind) and the tool's output schema does not have",
			"the page shows nothing there, and no test of the tool finds out",
			"bind a field of the schema, or add it there", "E10",
		}, bound},
		{Rule{
			"widget/calls-visible", Error, "a tool that the page calls and that there is not, or that is not visible to apps",
			"the host refuses the call, and the button does nothing",
			`name a tool of the server, and give it _meta.ui.visibility with "app"`, "E10",
		}, callsVisible},
	}
}

func spinner(c *widgetCheck) {
	p := c.widget.shown()
	if p.loading && !slices.Contains(p.states, "error") {
		c.find("its page", "it waits, and has no state for an error")
	}
}

func states(c *widgetCheck) {
	p := c.widget.shown()
	var missing []string
	for _, state := range []string{"results", "empty", "error"} {
		if !slices.Contains(p.states, state) && (state != "error" || !p.loading) {
			missing = append(missing, state)
		}
	}
	if missing != nil {
		c.find("its page", "it has no state %s", join(missing))
	}
}

func bound(c *widgetCheck) {
	for _, t := range c.users() {
		root := objectOf(t.Output)
		if root == nil {
			continue // that is found at the tool
		}
		for _, path := range c.widget.shown().binds {
			if missing, known := follow(root, strings.Split(path, ".")); missing != "" {
				c.find("its page", "it binds %q, and the answer of %q has no %q%s", path, t.Name, missing, suggest.Hint(missing, known))
			}
		}
	}
}

// follow goes along a path through a schema, arrays are walked. missing is the
// first name on it that there is not, "" where all are there or nobody can tell.
func follow(root object, path []string) (missing string, known []string) {
	at := []object{root}
	for _, name := range path {
		forms := unfold(root, at, deepest)
		var next []object
		open := false
		known = nil
		for _, s := range forms {
			props := s.object("properties")
			known = append(known, props.names()...)
			if p, ok := props[name]; ok {
				below, _ := p.(map[string]any)
				next = append(next, below)
			}
			open = open || props == nil && s["properties"] == nil && s["additionalProperties"] != false && (s["type"] == nil || s.isType("object")) && len(forms) == 1
		}
		if len(next) == 0 {
			if open {
				return "", nil
			}
			return name, known
		}
		at = next
	}
	return "", nil
}

// unfold gives the schemas that a value may have to fit: behind references, in
// alternatives, and of an array those of its elements.
func unfold(root object, at []object, left int) []object {
	var out []object
	for _, s := range at {
		if s == nil || left == 0 {
			continue
		}
		var below []object
		if ref := s.text("$ref"); strings.HasPrefix(ref, "#/") {
			below = append(below, target(root, ref))
		}
		for _, word := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
			forms, _ := s[word].([]any)
			for _, form := range forms {
				m, _ := form.(map[string]any)
				below = append(below, m)
			}
		}
		for _, word := range []string{"items", "then", "else"} {
			below = append(below, s.object(word))
		}
		if s.object("items") == nil {
			out = append(out, s)
		}
		out = append(out, unfold(root, below, left-1)...)
	}
	return out
}

func target(root object, ref string) object {
	at := root
	for token := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.object(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return at
}

func callsVisible(c *widgetCheck) {
	var names []string
	for i := range c.set.Tools {
		names = append(names, c.set.Tools[i].Name)
	}
	for _, name := range c.widget.shown().calls {
		i := slices.Index(names, name)
		switch {
		case i < 0:
			c.find("its page", "it calls %q, and there is no such tool%s", name, suggest.Hint(name, names))
		case !c.set.Tools[i].visibleToApps():
			c.find("its page", "it calls %q, which is not visible to apps", name)
		}
	}
}

// visibleToApps is so unless the tool says otherwise, under either name.
func (t *Tool) visibleToApps() bool {
	meta := objectOf(t.Meta)
	if ui := meta.object("ui"); ui["visibility"] != nil {
		return slices.Contains(ui.texts("visibility"), "app")
	}
	reachable, said := meta[oldReachable].(bool)
	return !said || reachable
}

// visibilityRules are the rules of who sees a tool.
func visibilityRules() []toolRule {
	return []toolRule{{Rule{
		"widget/visibility", Error, "a visibility with anything else than model and app",
		"hosts hide the tool from everybody, or show it to everybody",
		`say ["model"], ["app"] or ["model", "app"]`, "E10",
	}, false, true, visibility}}
}

func visibility(c *toolCheck) {
	ui := objectOf(c.tool.Meta).object("ui")
	v, said := ui["visibility"]
	entries, isList := v.([]any)
	at := spot{partMeta, "/ui/visibility"}
	switch {
	case !said:
	case !isList || len(entries) == 0:
		c.find(at, "it is no list of model and app")
	default:
		for _, e := range entries {
			if e != "model" && e != "app" {
				c.find(at, "%v is neither model nor app", e)
			}
		}
	}
}
