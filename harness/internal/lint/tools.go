package lint

import (
	"fmt"
	"slices"
)

// toolRule is a rule of which each tool of a set is asked.
type toolRule struct {
	Rule
	// files and servers say which sets it is for.
	files, servers bool
	check          func(c *toolCheck)
}

// toolCheck is one tool that one rule looks at.
type toolCheck struct {
	set   *Set
	index int
	tool  *Tool
	rule  *toolRule
	out   []Finding
}

// find notes a finding at a spot of the tool.
func (c *toolCheck) find(at spot, format string, args ...any) {
	c.out = append(c.out, c.set.about(c.tool, c.rule.finding(c.set.place(c.tool, at), c.set.on(c.tool.Name), format, args...)))
}

// toolRules are the rules of tools, a group a file.
func toolRules() []toolRule {
	return slices.Concat(nameRules(), hintRules(), schemaRules(), safetyRules(), visibilityRules())
}

func toolRuleList() []Rule {
	all := toolRules()
	out := make([]Rule, len(all))
	for i := range all {
		out[i] = all[i].Rule
	}
	return out
}

// Lint holds the set against the rules of tools and widgets.
func (s *Set) Lint() []Finding {
	var out []Finding
	rules := toolRules()
	for i := range s.Tools {
		for r := range rules {
			if rule := &rules[r]; s.Server && rule.servers || !s.Server && rule.files {
				c := &toolCheck{set: s, index: i, tool: &s.Tools[i], rule: rule}
				rule.check(c)
				out = append(out, c.out...)
			}
		}
	}
	return append(out, s.lintWidgets()...)
}

// nameRules are the rules of names and descriptions.
func nameRules() []toolRule {
	return []toolRule{
		{Rule{
			"tool/name-valid", Error, "a tool's name that not every host takes",
			"a host that refuses the name drops the tool, or the whole server, and says so nowhere that you look",
			"use 1 to 128 of A-Z, a-z, 0-9, _, . and -", "mcp",
		}, true, true, nameValid},
		{Rule{
			"tool/name-unique", Error, "two tools of one name",
			"which of them runs is the host's whim",
			"rename one, or drop it", "mcp",
		}, true, true, nameUnique},
		{Rule{
			"tool/no-description", Error, "a tool without a description",
			"the model guesses from the name what it does and when",
			"say what it does, what it needs, and when it may be called", "L1",
		}, true, true, described},
		{Rule{
			"tool/name-honest", Warning, "a name that says the opposite of what the tool declares: a read called delete_…, a write called get_…",
			"a model, and a person who approves, believe the name",
			"name what it does (request_deletion where it only requests), or mend the declaration", "E7",
		}, true, true, nameHonest},
	}
}

func nameValid(c *toolCheck) {
	name := c.tool.Name
	bad := slices.ContainsFunc([]rune(name), func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && r != '_' && r != '.' && r != '-'
	})
	switch {
	case len(name) == 0 || len(name) > 128:
		c.find(spot{part: partName}, "the name has %d characters", len(name))
	case bad:
		c.find(spot{part: partName}, "the name %q has characters that not every host takes", name)
	}
}

func nameUnique(c *toolCheck) {
	before := c.set.Tools[:c.index]
	if slices.ContainsFunc(before, func(t Tool) bool { return t.Name == c.tool.Name }) {
		c.find(spot{part: partName}, "the name %q is declared twice", c.tool.Name)
	}
}

func described(c *toolCheck) {
	if c.tool.Description == "" && !c.tool.Partial {
		c.find(spot{part: partName}, "nothing says what it does")
	}
}

func nameHonest(c *toolCheck) {
	word := verb(c.tool.Name)
	switch {
	case c.readOnly() && writes(word):
		c.find(spot{part: partName}, "the name %q says that it changes something, and %s", c.tool.Name, c.set.words("readOnlyHint is true", "effect is read"))
	case c.saysWrite() && reads(word):
		c.find(spot{part: partName}, "the name %q says that it only looks, and %s", c.tool.Name, c.set.words("readOnlyHint is false", "effect is write"))
	}
}

// readOnly tells that the tool is declared to change nothing.
func (c *toolCheck) readOnly() bool { return !c.tool.Writes() }

// saysWrite tells that the tool is declared to change something; what is not
// declared only counts as that.
func (c *toolCheck) saysWrite() bool {
	if c.set.Server {
		return c.tool.Hints != nil && c.tool.Hints.ReadOnly != nil && !*c.tool.Hints.ReadOnly
	}
	return c.tool.Effect == "write"
}

// hintRules are the rules of what a tool says of its risk.
func hintRules() []toolRule {
	return []toolRule{
		{Rule{
			"tool/hints-explicit", Error, "a tool of a server that leaves readOnlyHint, destructiveHint or openWorldHint out",
			"what is left out counts as a destructive write to the open world, and shops for apps refuse the tool",
			"say all three, false ones too", "E7",
		}, false, true, hintsExplicit},
		{Rule{
			"tool/hints-contradict", Error, "a tool that says readOnlyHint: true and destructiveHint: true",
			"one of the two is wrong, and a host that believes the first runs it without asking",
			"decide which it is; where it does both, make two tools of it", "E7",
		}, false, true, hintsContradict},
		{Rule{
			"tool/hint-idempotent-read", Warning, "idempotentHint on a tool that only reads",
			"the hint speaks of writes; on a read it hides that somebody was not sure which it is",
			"drop idempotentHint", "mcp",
		}, false, true, idempotentRead},
		{Rule{
			"tool/effect-declared", Warning, "a tool in a file that does not say whether it reads or writes",
			"it counts as a write: it is never approved automatically, and every call is an effect to be explained",
			"say effect: read or effect: write", "E7",
		}, true, false, effectDeclared},
	}
}

func hintsExplicit(c *toolCheck) {
	h := c.tool.Hints
	var missing []string
	for _, hint := range []struct {
		name string
		ok   bool
	}{
		{"readOnlyHint", h != nil && h.ReadOnly != nil}, {"destructiveHint", h != nil && h.Destructive != nil}, {"openWorldHint", h != nil && h.OpenWorld != nil},
	} {
		if !hint.ok {
			missing = append(missing, hint.name)
		}
	}
	if missing != nil {
		c.find(spot{part: partHints}, "%s not said", list(missing))
	}
}

func list(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	last := len(names) - 1
	return fmt.Sprintf("%s and %s are", join(names[:last]), names[last])
}

func hintsContradict(c *toolCheck) {
	if h := c.tool.Hints; h != nil && yes(h.ReadOnly) && yes(h.Destructive) {
		c.find(spot{part: partHints}, "readOnlyHint and destructiveHint are both true")
	}
}

func idempotentRead(c *toolCheck) {
	if h := c.tool.Hints; h != nil && yes(h.ReadOnly) && yes(h.Idempotent) {
		c.find(spot{part: partHints}, "idempotentHint is true on a tool that only reads")
	}
}

func effectDeclared(c *toolCheck) {
	if c.tool.Effect == "" && !c.tool.Partial {
		c.find(spot{part: partName}, "it does not say whether it reads or writes")
	}
}

func yes(b *bool) bool { return b != nil && *b }
