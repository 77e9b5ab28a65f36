package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

var (
	acceptsBad = Rule{
		"probe/accepts-bad", Error, "a tool that takes arguments that it has to refuse",
		"the model's mistake becomes an answer to another question, or an effect that nobody wanted",
		"check the arguments before anything is done, against the schema and what it cannot say", "E2",
	}
	protocolError = Rule{
		"probe/protocol-error", Error, "bad arguments that are answered by an error of the protocol",
		"hosts do not show it to the model, which could have mended its call",
		"answer with isError and {code, message, retryable}", "E3",
	}
	errorForm = Rule{
		"probe/error-form", Error, "an error that is not {code, message, retryable}: a bare exception",
		"neither the model nor the host can tell whether to mend the call, to try again or to give up",
		`answer {"ok": false, "error": {"code": …, "message": …, "retryable": …}} with isError`, "E11",
	}
	retryableBad = Rule{
		"probe/retryable-mistake", Error, "an error of bad arguments that says that it is worth trying again",
		"the same call is made until a limit ends it",
		"say retryable: false", "E3",
	}
	internals = Rule{
		"probe/internals", Error, "an error that shows what lies inside: a stack trace, a query, a path, an inner address, a secret",
		"the model passes it on, to whoever asks",
		"log it, and answer with a code and a clean sentence", "E4",
	}
	oneKindRule = Rule{
		"probe/one-error-kind", Error, "one code for every kind of error, or one that says of bad arguments only that something failed",
		"a mistake is tried again, and a failure that would pass is given up",
		"give each kind a code of its own: VALIDATION_ERROR, NOT_FOUND, UPSTREAM_UNAVAILABLE, …", "E11",
	}
	disagrees = Rule{
		"probe/iserror-disagrees", Error, "isError and ok that contradict each other",
		"the host files it as a success, and the model reads that it failed",
		"set isError whenever ok is false, and never else", "E3",
	}
	unhelpful = Rule{
		"probe/names-argument", Warning, "a refusal that does not name the argument that is wrong",
		"the model changes another one, and tries again",
		"say which argument, and what it has to be", "E3",
	}
	breaksDown = Rule{
		"probe/breaks-down", Error, "a server that ends, or does not answer",
		"one odd call ends the session for everybody",
		"catch what a handler throws, and answer with an error; give each call a time limit", "E2",
	}
	repeatsTwice = Rule{
		"probe/repeated-key", Error, "a write that is done again when its key is repeated, or answers something else",
		"the answer was lost, the call is made again, and there are two orders",
		"store the first result under the key, before it is answered, and give it again; retake drill shows the rest", "E11",
	}
	lies = Rule{
		"probe/read-only-lies", Error, "a tool that says readOnlyHint: true and changes something",
		"it is run without asking anybody",
		"say readOnlyHint: false, or let it only read", "E11",
	}
	notRetryable = Rule{
		"probe/dependency-final", Error, "an error of a dependency that fails for a moment, and is told to be final",
		"the model gives up what would have worked a second later",
		"say retryable: true, and a code such as UPSTREAM_UNAVAILABLE", "E3",
	}
)

func probeRules() []Rule {
	return []Rule{acceptsBad, protocolError, errorForm, retryableBad, internals, oneKindRule, disagrees, unhelpful, breaksDown, repeatsTwice, lies, notRetryable}
}

// outcome is what an answer says of itself.
type outcome struct {
	failed    bool
	disagrees string // how isError and ok contradict each other
}

// read tells whether an answer is an error.
func read(a mcptool.Answer) outcome {
	if a.Err != nil {
		return outcome{failed: true}
	}
	ok, says := okOf(a)
	switch {
	case says && ok && a.IsError:
		return outcome{true, "isError is true, and the answer says ok: true"}
	case says && !ok && !a.IsError:
		return outcome{true, "isError is false, and the answer says ok: false"}
	}
	return outcome{failed: a.IsError}
}

func okOf(a mcptool.Answer) (ok, says bool) {
	for _, text := range []jsontext.Value{a.Structured, jsontext.Value(a.Text)} {
		if ok, says = objectOf(text)["ok"].(bool); says {
			return ok, says
		}
	}
	return false, false
}

// toolError is an error in the form that is asked for.
type toolError struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable *bool  `json:"retryable"`
}

// errorOf reads an error in that form; ok is false for any other.
func errorOf(a mcptool.Answer) (e toolError, ok bool) {
	for _, text := range []jsontext.Value{a.Structured, jsontext.Value(a.Text)} {
		var whole struct {
			Error toolError `json:"error"`
			Own   toolError `json:",embed"`
		}
		if len(text) == 0 || json.Unmarshal(text, &whole) != nil {
			continue
		}
		for _, e := range []toolError{whole.Error, whole.Own} {
			if e.Code != "" && e.Message != "" && e.Retryable != nil {
				return e, true
			}
		}
	}
	return e, false
}

// said is an answer for comparing, without what may differ.
func said(a mcptool.Answer, volatile []jsondoc.Pointer) string {
	text := jsontext.Value(a.Text)
	if a.Structured != nil {
		text = a.Structured
	}
	canonical, err := jsondoc.Canonical(nil, text)
	if err != nil {
		return string(text)
	}
	if rest, err := jsondoc.Remove(nil, canonical, volatile); err == nil {
		return string(rest)
	}
	return string(canonical)
}

// refusal looks at the answer to what has to be refused.
func (b *Prober) refusal(t *Tool, m *mistake, a mcptool.Answer) {
	if a.Err != nil {
		b.find(&protocolError, t, "called with %s it answers with an error of the protocol: %s", m.what, short(a.Err.Detail))
		return
	}
	if !read(a).failed {
		b.find(&acceptsBad, t, "called with %s (%s) it answers as if all were well", m.what, short(string(m.args)))
		return
	}
	e, ok := b.anError(t, a, kindArguments)
	if !ok {
		return
	}
	if *e.Retryable {
		b.find(&retryableBad, t, "called with %s it says %s, and that it is worth trying again", m.what, e.Code)
	}
	named := slices.ContainsFunc(m.names, func(name string) bool { return strings.Contains(strings.ToLower(e.Message), strings.ToLower(name)) })
	if len(m.names) > 0 && !named {
		b.find(&unhelpful, t, "called with %s it says %q", m.what, short(e.Message))
	}
}

// anError looks at what holds for every error; ok tells that it has the form that
// is asked for.
func (b *Prober) anError(t *Tool, a mcptool.Answer, k kind) (e toolError, ok bool) {
	if a.Err != nil {
		b.find(&protocolError, t, "it answers with an error of the protocol: %s", short(a.Err.Detail))
		return e, false
	}
	if how := read(a).disagrees; how != "" {
		b.find(&disagrees, t, "%s", how)
		if ok, _ := okOf(a); ok {
			return e, false // nobody knows which it is
		}
	}
	if shown := b.leaks(a.Text + "\n" + string(a.Structured)); shown != nil {
		b.find(&internals, t, "its error shows %s", strings.Join(shown, "; "))
	}
	if e, ok = errorOf(a); !ok {
		b.find(&errorForm, t, "its error is %q", short(a.Text))
		return e, false
	}
	if k == kindMadeUp && blames.MatchString(spelled(e.Code)) {
		return e, true
	}
	if k == kindMadeUp {
		k = kindBusiness
	}
	if b.codes[k] == nil {
		b.codes[k] = map[string]string{}
	}
	b.codes[k][e.Code] = t.Name
	return e, true
}

// blames fits a code that says that the arguments are wrong.
var blames = regexp.MustCompile(`valid|argument|param|input|bad_request|schema|malformed`)

// refused looks at an error of arguments that the tool's schema allows.
func (b *Prober) refused(t *Tool, a mcptool.Answer) {
	k := kindBusiness
	if b.Examples[t.Name] == nil {
		k = kindMadeUp
	}
	if e, ok := b.anError(t, a, k); ok {
		b.usual[t.Name] = e.Code
	}
}

// leaks names what an error shows that nobody outside should see.
func (b *Prober) leaks(text string) []string {
	found := redact.Looks(text, true)
	if slices.ContainsFunc(b.Secrets, func(s string) bool { return len(s) >= redact.Least && strings.Contains(text, s) }) {
		found = append(found, "a secret from the configuration")
	}
	return found
}

// vague are codes that say only that something failed.
var vague = []string{"error", "unknown", "unknown_error", "failed", "failure", "generic", "generic_error", "internal", "internal_error", "internal_server_error", "server_error", "exception", "tool_error", "500"}

// oneKind looks at the codes of all errors together. That a dependency's failure
// looks like bad arguments is wrong in any case; that a tool cannot do something may
// be told by the code of bad arguments too, as long as there is another one.
func (b *Prober) oneKind() {
	bad := slices.Sorted(maps.Keys(b.codes[kindArguments]))
	for _, code := range bad {
		if slices.Contains(vague, spelled(code)) {
			b.find(&oneKindRule, b.tool(b.codes[kindArguments][code]), "of bad arguments it says %s", code)
			return
		}
	}
	for _, code := range bad {
		if name, both := b.codes[kindDependency][code]; both {
			b.find(&oneKindRule, b.tool(name), "it says %s of %s, and of %s", code, kindArguments, kindDependency)
			return
		}
	}
	if len(bad) == 1 && len(b.codes[kindBusiness]) == 1 {
		if name, both := b.codes[kindBusiness][bad[0]]; both {
			b.find(&oneKindRule, b.tool(name), "it says %s of %s, and of %s", bad[0], kindArguments, kindBusiness)
			return
		}
	}
	if len(b.codes) == 1 {
		b.note("no errors but those of %s could be provoked, so it is not known whether each kind has a code of its own; give --example TOOL=JSON, a call that is refused, or --fail NAME", slices.Collect(maps.Keys(b.codes))[0])
	}
}

func (b *Prober) tool(name string) *Tool {
	return &b.set.Tools[slices.IndexFunc(b.set.Tools, func(t Tool) bool { return t.Name == name })]
}
