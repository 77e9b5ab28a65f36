package scenario

import (
	"maps"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
)

// inputs replaces placeholders, and remembers which inputs were used.
type inputs struct {
	f      *yamlwalk.File
	values map[string]string
	used   map[string]bool
}

// fill replaces each ${name} of a text; $${ stands for a literal ${.
func (in *inputs) fill(t text) string {
	if !strings.Contains(t.V, "${") {
		return t.V
	}
	var b strings.Builder
	rest := t.V
	for {
		i := strings.Index(rest, "${")
		if i < 0 {
			b.WriteString(rest)
			return b.String()
		}
		if i > 0 && rest[i-1] == '$' {
			b.WriteString(rest[:i-1] + "${")
			rest = rest[i+2:]
			continue
		}
		b.WriteString(rest[:i])
		name, tail, closed := strings.Cut(rest[i+2:], "}")
		if !closed || !inputForm.MatchString(name) {
			in.f.Failf(t.At, "%q is no placeholder; write ${name}, or $${ for a literal ${", cut(rest[i:], 20))
			return ""
		}
		b.WriteString(in.value(name, t))
		rest = tail
	}
}

func (in *inputs) value(name string, t text) string {
	v, ok := in.values[name]
	if !ok {
		in.f.Failf(t.At, "unknown placeholder ${%s}%s; declare it under inputs, or write $${ for a literal ${", name, suggest.Hint(name, slices.Sorted(maps.Keys(in.values))))
	}
	if in.used == nil {
		in.used = map[string]bool{}
	}
	in.used[name] = true
	return v
}

func (in *inputs) unused(declared []yamlwalk.Entry[string]) {
	for _, e := range declared {
		if !in.used[e.Key] {
			in.f.Failf(e.At, "input %q is never used; put ${%s} into system, opening, task or turns, or drop it", e.Key, e.Key)
		}
	}
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
