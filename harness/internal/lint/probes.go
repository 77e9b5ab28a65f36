package lint

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// Asker calls tools; a *mcptool.Session is one.
type Asker interface {
	Ask(ctx context.Context, tool string, args jsontext.Value) mcptool.Answer
	Lost() error
}

// Probing says what may be tried at a server. The zero value tries the least.
//
// A tool that reads is called with arguments that its schema allows, and with such
// that have one mistake. A tool that writes is given nothing but arguments that it
// has to refuse as a whole: none at all where some are required, and such of which
// each is of a wrong type. A server that does not look at its arguments may do
// anything with them all the same: what is probed is an instance for tests.
type Probing struct {
	// Examples are arguments of calls that may really be made, by the tool. Those of a
	// write have their effect.
	Examples map[string]jsontext.Value
	Volatile Volatile
	// Writes allows arguments with a single mistake for writes that have an
	// idempotency key, too.
	Writes bool
	// Effects count what there is in the world, by what they count.
	Effects map[string]effect.Probe
	// Key is a new idempotency key, for calls that are repeated.
	Key string
	// Secrets are values that no answer may show.
	Secrets []string
}

// Volatile is what may differ in the answers to a repeated call, by the tool.
type Volatile map[string][]jsondoc.Pointer

// Prober tries one server.
type Prober struct {
	Probing
	set   *Set
	ask   Asker // of the moment
	found []Finding
	notes []string
	// codes are the codes of errors, by the kind of what was wrong.
	codes map[kind]map[string]string // code → the tool that gave it
	// usual are the codes of what is refused while nothing fails, by the tool.
	usual map[string]string
	keys  int // that were made
}

// kind is what was wrong with a call.
type kind string

const (
	kindArguments  kind = "bad arguments"
	kindBusiness   kind = "what the tool cannot do"
	kindDependency kind = "a dependency that fails"
	// kindMadeUp is kindBusiness of arguments that nobody has said to be right ones: a
	// tool that answers that they are wrong may well be right.
	kindMadeUp kind = "arguments that were made up"
)

// NewProber makes one for the server's tools.
func NewProber(s *Set, p Probing) *Prober {
	return &Prober{Probing: p, set: s, codes: map[kind]map[string]string{}, usual: map[string]string{}}
}

// Try tries the server's tools, and stops when it has broken down.
func (b *Prober) Try(ctx context.Context, ask Asker) {
	b.ask = ask
	if len(b.Effects) == 0 && slices.ContainsFunc(b.set.Tools, func(t Tool) bool { return !t.Writes() }) {
		b.note("nothing counts its effects, so it is not known whether what says that it only reads does so")
	}
	for _, try := range []func(context.Context, *Tool){b.badArguments, b.reads, b.repeats} {
		for i := range b.set.Tools {
			if !b.over(ctx) {
				try(ctx, &b.set.Tools[i])
			}
		}
	}
	b.notRepeated()
	b.notCalled()
}

// notCalled notes the examples that were given and never called.
func (b *Prober) notCalled() {
	for _, name := range slices.Sorted(maps.Keys(b.Examples)) {
		i := slices.IndexFunc(b.set.Tools, func(t Tool) bool { return t.Name == name })
		switch {
		case i < 0:
			b.note("there is an example of the tool %q, which the server has not%s", name, suggest.Hint(name, toolNames(b.set.Tools)))
		case b.set.Tools[i].Writes() && keyField(&b.set.Tools[i]) == "":
			b.note("tool %q: its example was not called, since no argument is named like an idempotency key; a drill can be told which it is: retake drill --key", name)
		}
	}
}

func toolNames(tools []Tool) []string {
	out := make([]string, len(tools))
	for i := range tools {
		out[i] = tools[i].Name
	}
	return out
}

// notRepeated notes the writes with a key that nobody gave an example of.
func (b *Prober) notRepeated() {
	var names []string
	for i := range b.set.Tools {
		if t := &b.set.Tools[i]; t.Writes() && keyField(t) != "" && b.Examples[t.Name] == nil {
			names = append(names, t.Name)
		}
	}
	if len(names) > 0 {
		b.note("not tried with a repeated idempotency key: %s; give --example TOOL=JSON, a call that may really be made, or drill them: retake drill", strings.Join(names, ", "))
	}
}

// Found is what was found, and what could not be tried with the reason.
func (b *Prober) Found() (found []Finding, notes []string) {
	b.oneKind()
	return Sort(b.found), b.notes
}

// over tells that there is nobody left to ask.
func (b *Prober) over(ctx context.Context) bool { return ctx.Err() != nil || b.ask.Lost() != nil }

func (b *Prober) note(format string, args ...any) {
	text := b.set.server() + ": " + fmt.Sprintf(format, args...)
	if !slices.Contains(b.notes, text) {
		b.notes = append(b.notes, text)
	}
}

// find notes a finding about what a tool did; once for each tool and rule, since
// the tenth bad answer says what the first did.
func (b *Prober) find(r *Rule, t *Tool, format string, args ...any) {
	on := b.set.on(t.Name)
	if !slices.ContainsFunc(b.found, func(f Finding) bool { return f.Rule == r.ID && f.On == on }) {
		b.found = append(b.found, b.set.about(t, r.finding(b.set.place(t, spot{part: partName}), on, format, args...)))
	}
}

// call asks, and tells whether there is an answer to look at.
func (b *Prober) call(ctx context.Context, t *Tool, args jsontext.Value) (mcptool.Answer, bool) {
	a := b.ask.Ask(ctx, t.Name, args)
	if ctx.Err() != nil {
		return a, false
	}
	if a.Err != nil && (a.Err.Code == "UPSTREAM_TIMEOUT" || b.ask.Lost() != nil) {
		b.find(&breaksDown, t, "called with %s it gave no answer: %s", short(string(args)), a.Err.Detail)
		return a, false
	}
	return a, true
}

// badArguments gives a tool what it has to refuse.
func (b *Prober) badArguments(ctx context.Context, t *Tool) {
	single := !t.Writes() || b.Writes && hasKey(t)
	cases, why := mistaken(t, b.example(t), single)
	if len(cases) == 0 {
		b.note("tool %q was not tried with bad arguments: %s", t.Name, why)
	}
	for _, c := range cases {
		a, ok := b.call(ctx, t, c.args)
		if !ok {
			return
		}
		b.refusal(t, &c, a)
	}
}

// example is the tool's example with a new key, where it takes one; nil without an
// example. Keys are short and plain, since tools bound their length and form.
func (b *Prober) example(t *Tool) jsontext.Value {
	args := b.Examples[t.Name]
	if field := keyField(t); field != "" && args != nil {
		b.keys++
		return with(args, field, fmt.Sprintf("%s-%d", b.Key, b.keys))
	}
	return args
}

// reads calls what says that it only reads, twice, and counts what that has done.
func (b *Prober) reads(ctx context.Context, t *Tool) {
	if t.Writes() {
		return
	}
	args, why := sound(t, b.Examples[t.Name])
	if args == nil {
		b.note("tool %q was not called: %s", t.Name, why)
		return
	}
	before, ok := b.count(ctx)
	for range 2 {
		a, answered := b.call(ctx, t, args)
		if !answered {
			return
		}
		if outcome := read(a); outcome.failed {
			b.refused(t, a)
		} else if outcome.disagrees != "" {
			b.find(&disagrees, t, "%s", outcome.disagrees)
		}
	}
	after, ok2 := b.count(ctx)
	for _, name := range b.counted() {
		if ok && ok2 && after[name] != before[name] {
			b.find(&lies, t, "two calls have changed %s from %d to %d", name, before[name], after[name])
		}
	}
}

// repeats makes a call whose arguments the caller has given twice with one key.
func (b *Prober) repeats(ctx context.Context, t *Tool) {
	args := b.example(t)
	if args == nil || !t.Writes() || keyField(t) == "" {
		return
	}
	before, ok := b.count(ctx)
	first, answered := b.call(ctx, t, args)
	if !answered {
		return
	}
	if outcome := read(first); outcome.failed {
		b.refused(t, first)
		b.note("tool %q: its example is refused (%s), so a repeated key was not tried", t.Name, short(first.Text))
		return
	}
	middle, ok2 := b.count(ctx)
	second, answered := b.call(ctx, t, args)
	if !answered {
		return
	}
	after, ok3 := b.count(ctx)
	if said(first, b.Volatile[t.Name]) != said(second, b.Volatile[t.Name]) {
		b.find(&repeatsTwice, t, "the same key gave %s, and then %s", short(said(first, nil)), short(said(second, nil)))
	}
	for _, name := range b.counted() {
		if ok && ok2 && ok3 && after[name] != middle[name] {
			b.find(&repeatsTwice, t, "the same key has changed %s from %d to %d, and then to %d", name, before[name], middle[name], after[name])
		}
	}
}

// TryFailing calls all that may be called at a server of which something that it
// needs has been made to fail.
func (b *Prober) TryFailing(ctx context.Context, ask Asker, name string) {
	b.ask = ask
	failed := false
	for i := range b.set.Tools {
		t := &b.set.Tools[i]
		args, _ := sound(t, b.Examples[t.Name])
		if t.Writes() { // its effect has to be asked for
			args = b.example(t)
		}
		if args == nil || b.over(ctx) {
			continue
		}
		a, answered := b.call(ctx, t, args)
		if !answered {
			return
		}
		if read(a).failed && !b.isUsual(t, a) {
			failed = true
			b.anError(t, a, kindDependency)
			b.transient(t, name, a)
		}
	}
	if !failed && !b.over(ctx) {
		b.note("no tool that was called fails while %s does; give an example of one that needs it", name)
	}
}

// isUsual tells that the tool refuses the same while nothing fails.
func (b *Prober) isUsual(t *Tool, a mcptool.Answer) bool {
	e, ok := errorOf(a)
	return ok && e.Code == b.usual[t.Name]
}

// transient wants an error of something that may work again in a moment.
func (b *Prober) transient(t *Tool, name string, a mcptool.Answer) {
	if e, ok := errorOf(a); ok && e.Retryable != nil && !*e.Retryable {
		b.find(&notRetryable, t, "while %s fails it says %s, and that it is of no use to try again", name, e.Code)
	}
}

// count asks all that counts; ok is false where it cannot be known.
func (b *Prober) count(ctx context.Context) (counts map[string]int, ok bool) {
	counts = map[string]int{}
	for _, name := range b.counted() {
		n, err := b.Effects[name].Count(ctx)
		if err != nil {
			b.note("%s could not be counted: %v", name, err)
			return nil, false
		}
		counts[name] = n
	}
	return counts, true
}

func (b *Prober) counted() []string {
	var names []string
	for name := range b.Effects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// short is a text for a message.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return s
}
