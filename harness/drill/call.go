package drill

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
)

// operation is a call that can be repeated.
type operation struct {
	tool  string
	args  jsontext.Value // without the key
	field string         // of the key; "" for none
	key   string
	raw   jsontext.Value // the arguments word for word, instead of the above
}

// text are the arguments as they are sent.
func (o operation) text() jsontext.Value {
	switch {
	case o.raw != nil:
		return o.raw
	case o.field == "":
		return o.args
	}
	return with(o.args, o.field, quoted(o.key))
}

// withArgs is the operation with others.
func (o operation) withArgs(args jsontext.Value) operation {
	o.args = args
	return o
}

func (o operation) withKey(key string) operation {
	o.key = key
	return o
}

// withoutKey leaves the key away.
func (o operation) withoutKey() operation {
	o.field = ""
	return o
}

func quoted(text string) jsontext.Value {
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil { // not UTF-8
		b, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "?"))
	}
	return b
}

// with is the object with a member.
func with(object jsontext.Value, name string, value jsontext.Value) jsontext.Value {
	m := members(object)
	m[name] = value
	return marshal(m)
}

// members are those of an object; none of what is no object.
func members(object jsontext.Value) map[string]jsontext.Value {
	m := map[string]jsontext.Value{}
	if json.Unmarshal(object, &m) != nil {
		return map[string]jsontext.Value{}
	}
	return m
}

func marshal(m map[string]jsontext.Value) jsontext.Value {
	b, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return jsontext.Value("{}") // its members were read from JSON
	}
	return b
}

// answer is what a call came to.
type answer struct {
	given bool // false after the end of the story
	res   tool.Result
	hung  bool
}

func (a *answer) ok() bool { return a.given && !a.hung && a.res.Err == nil }

// refused tells whether the tool said no: an error that leaves nothing in doubt.
func (a *answer) refused() bool { return a.given && !a.hung && a.res.Err != nil && !a.doubt() }

// doubt tells whether it is open what happened.
func (a *answer) doubt() bool {
	if a.res.Err == nil {
		return a.hung
	}
	switch a.res.Err.Code {
	case tool.CodeUpstream, tool.CodeTimeout, tool.CodeCancelled, tool.CodeUnavailable, tool.CodeBadOutput:
		return true
	}
	return false
}

func (a *answer) String() string {
	switch {
	case a.hung:
		return "no answer"
	case a.res.Err == nil:
		return "ok " + brief(a.res.Content)
	case a.res.Err.Detail != "":
		return "error " + brief(a.res.Err.Error()+" ("+a.res.Err.Detail+")")
	}
	return "error " + brief(a.res.Err.Error())
}

// most is how much of a text a step shows.
const most = 300

func brief(text string) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// execute makes the call, bounded by the timeout whatever the executor does.
func (t *trial) execute(ctx context.Context, x tool.Executor, o operation, n int) (answer, error) {
	limited, cancel := clock.WithTimeout(ctx, t.Timeout)
	defer cancel()
	type reply struct {
		res tool.Result
		err error
	}
	replies := make(chan reply, 1)
	go func() {
		res, err := x.Execute(limited, tool.Call{
			Tool: o.tool, ID: fmt.Sprintf("drill-%d", n), Args: o.text(),
			TaskID: "drill", AttemptID: fmt.Sprintf("attempt-%d", n), Attempt: 1, Ordinal: n,
		})
		replies <- reply{res, err}
	}()
	select {
	case r := <-replies:
		return judge(r.res, limited.Err() != nil && ctx.Err() == nil), r.err
	case <-limited.Done():
		return answer{given: true, hung: true}, ctx.Err()
	}
}

// judge reads an answer. An answer that says ok: false is an error, whatever it
// came in; one that came with the end of the time is none.
func judge(res tool.Result, late bool) answer {
	if late && res.Err != nil && (res.Err.Code == tool.CodeTimeout || res.Err.Code == tool.CodeCancelled) {
		return answer{given: true, hung: true}
	}
	if res.Err == nil {
		if e, no := tool.Reported([]byte(res.Content), false); no {
			res.Err = e
		}
	}
	return answer{given: true, res: res}
}

// call makes the call and counts the effects before and after. A call that hangs
// ends the row.
func (t *trial) call(o operation) answer { return t.callBy(o, t.start.Principal) }

func (t *trial) callBy(o operation, by string) answer {
	if t.need(); t.over() {
		return answer{}
	}
	if t.inst == nil {
		t.broken(failure.Errorf(failure.Internal, "a call without an instance"))
		return answer{}
	}
	before := t.now
	t.ops++
	a, err := t.execute(t.ctx, t.inst, o, t.ops)
	if err != nil {
		t.broken(err)
		return answer{}
	}
	if a.hung {
		t.step(Step{Do: o.words(), By: by, Answer: a.String(), Before: &before})
		t.breach("answer each call, if need be with an error that may be retried", "no answer within %s", t.Timeout)
		return answer{}
	}
	after := t.count()
	t.step(Step{Do: o.words(), By: by, Answer: a.String(), Before: &before, After: &after})
	return a
}

func (o operation) words() string { return o.tool + " " + brief(string(o.text())) }

// succeed wants the call to work, as the example that it is.
func (t *trial) succeed(a answer) answer {
	switch {
	case t.over() || a.ok():
	default:
		t.breach("give example arguments that the tool accepts, or mend the tool", "the example call does not succeed: %s", a.String())
	}
	return a
}

// refuses wants the call to be refused.
func (t *trial) refuses(a answer, do, what string) {
	if !t.over() && !a.refused() {
		t.breach(do, "%s was not refused: %s", what, a.String())
	}
}

// same wants a repeat to answer as the first call did.
func (t *trial) same(first, again answer, do string) {
	switch {
	case t.over():
	case !again.ok():
		t.breach(do, "the repeat does not answer with the first result: %s", again.String())
	default:
		if diff := t.difference(first, again); diff != "" {
			t.breach(do, "the repeat answers something else than the first call: %s", diff)
		}
	}
}

// difference says where two results differ, the declared places aside.
func (t *trial) difference(a, b answer) string {
	x, y := t.stable(a.res.Content), t.stable(b.res.Content)
	if bytes.Equal(x, y) {
		return ""
	}
	if !jsontext.Value(x).IsValid() || !jsontext.Value(y).IsValid() {
		return fmt.Sprintf("%q, not %q", brief(string(y)), brief(string(x)))
	}
	var out []string
	for _, d := range jsondoc.Diff(x, y, 3) {
		out = append(out, fmt.Sprintf("%s is %s, was %s", orRoot(d.Pointer), orNothing(d.B), orNothing(d.A)))
	}
	return strings.Join(out, "; ")
}

func orNothing(s string) string {
	if s == "" {
		return "missing"
	}
	return s
}

func orRoot(pointer string) string {
	if pointer == "" {
		return "the result"
	}
	return pointer
}

// stable is a result in its canonical spelling, without what may differ.
func (t *trial) stable(content string) []byte {
	rest, err := jsondoc.Remove(nil, []byte(content), t.Spec.Volatile)
	if err != nil {
		return []byte(content)
	}
	plain, err := jsondoc.Canonical(nil, rest)
	if err != nil {
		return []byte(content)
	}
	return plain
}

// soon is how often a probe is asked that waits for an effect.
const soon = 2 * time.Millisecond
