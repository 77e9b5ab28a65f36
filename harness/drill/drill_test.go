package drill_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

const buySchema = `{"type":"object","properties":{
	"gift":{"type":"string","enum":["mug","book","lamp"]},"quantity":{"type":"integer","minimum":1},
	"note":{"type":"string"},"key":{"type":"string"},"items":{"type":"array","items":{"type":"string"}}},
	"required":["key"],"additionalProperties":false}`

func buying() drill.Spec {
	return drill.Spec{
		Tool: "buy", Args: jsontext.Value(`{"gift":"mug","quantity":1,"note":"for you"}`),
		Bad:   []jsontext.Value{jsontext.Value(`{"gift":"mug","quantity":0}`), jsontext.Value(`{"gift":"cup","quantity":1}`)},
		Key:   drill.KeySpec{Field: "key", MaxLength: 40},
		Tools: []tool.Decl{{Name: "buy", Input: jsontext.Value(buySchema)}, {Name: "orders", Effect: tool.EffectRead}},

		Unmarked: []string{"note"},
		Policies: drill.Policies{Expiry: keyLife, Lock: lockLife, InFlight: drill.InFlightAny},
		Batch:    &drill.Batch{Args: jsontext.Value(`{"items":["mug","book","lamp"]}`), Items: 3, Fail: "payments"},
		Another:  &drill.Another{Tool: "wrap", Args: jsontext.Value(`{"gift":"mug"}`)},
		Looks: []drill.Look{
			{Tool: "orders", From: pointers("/order")[0]},
			{Tool: "order", From: pointers("/order")[0], Into: "order"},
		},
	}
}

func committing() drill.Spec {
	return drill.Spec{
		Tool: "commit", Args: jsontext.Value(`{}`), Key: drill.KeySpec{Field: "key"},
		Prepare: &drill.Prepare{
			Tool: "prepare", Args: jsontext.Value(`{"gift":"mug"}`), Key: "key", From: pointers("/draft/id")[0], Into: "draft",
			Changed: jsontext.Value(`{"gift":"book"}`), Expiry: draftLife,
		},
		Policies: drill.Policies{Lock: lockLife},
	}
}

func run(t *testing.T, p drill.Params) *drill.Report {
	t.Helper()
	if p.Timeout == 0 {
		p.Timeout = 10 * time.Second
	}
	r, err := drill.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// in are the names of the rows in a state.
func in(r *drill.Report, s drill.State) []string {
	var out []string
	for _, row := range r.Of(s) {
		out = append(out, row.Name())
	}
	return out
}

func TestTheSoundOneHolds(t *testing.T) {
	for _, spec := range []drill.Spec{buying(), committing()} {
		r := run(t, drill.Params{Spec: spec, Target: shop()})
		if bad := append(in(r, drill.Breached), in(r, drill.Warning)...); len(bad) > 0 {
			t.Errorf("the sound shop does not hold %q\n%s", bad, r.AppendText(nil))
		}
		if spec.Tool == "buy" && len(in(r, drill.NotApplicable)) > 4 {
			t.Errorf("too many rows do not apply\n%s", r.AppendText(nil))
		}
	}
}

// Each mistake is found by the rows that are there for it.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		mistake, why string
		commit       bool
		rows         string
	}{
		{"looks up, acts, inserts", "the form of the tutorials", false, "I2, I2 two processes, I3 crash, I10 after_effect, I13, I18 after_effect"},
		{"two transactions", "a crash between effect and record", false, "I3 crash, I10 after_effect, I18 after_effect"},
		{"forgets at restart", "keys in memory", false, "I9, I10 before_reserve, I10 after_reserve, I10 after_effect, I10 after_record, I13, I14 another tenant"},
		{"hangs", "a duplicate waits for ever", false, "I2, I2 two processes"},
		{"burns keys", "a refusal is stored", false, "I11, I12, I20"},
		{"stores errors", "errors are declared not to be stored", false, "I12, I20"},
		{"redoes batches", "a repeat does all items again", false, "I20"},
		{"invents keys", "a call without a key is served", false, "I7"},
		{"cuts keys", "long keys become one", false, "I16"},
		{"takes any key", "an empty one too", false, "I16"},
		{"mixes tenants", "keys are global", false, "I14 another tenant"},
		{"mixes tools", "keys are shared by tools", false, "I14 another tool"},
		{"hashes the text", "white space counts", false, "I6"},
		{"forgets the quantity", "a change of meaning is not seen", false, "I6"},
		{"sees the note", "what is declared to be left out counts", false, "I6"},
		{"forgets early", "before the declared expiry", false, "I13"},
		{"never expires", "after the declared expiry", false, "I13"},
		{"overwrites", "other arguments are done under the same key", false, "I5, I6"},
		{"answers other payloads", "with the stored result", false, "I5, I6"},
		{"answers anew", "a replay is another result", false, "I2, I2 two processes, I3, I5, I6, I9, I10 before_reserve, I10 after_reserve, I10 after_effect, I12, I13, I14 another tool, I14 another tenant, I18, I18 after_effect, I19, I22"},
		{"locks for ever", "a dead call blocks the key", false, "I18, I18 after_effect"},
		{"reads that write", "a read with an effect", false, "I21"},
		{"shows all", "orders of others", false, "T3"},
		{"open door", "no token is needed", false, "T1, T2"},
		{"acts, then validates", "bad arguments have an effect", false, "I11"},
		{"acts at the third of a batch", "two repeats are not enough", false, "I20"},
		{"commits again under the same key", "the draft is not asked", true, "I1, I2, I2 two processes, I3, I5, I6, I9, I10 before_reserve, I10 after_reserve, I10 after_effect, I10 after_record, I14 another tenant, I15, I17, I18, I18 after_effect, I19, I22"},
		{"charges what it refuses", "an effect behind a refusal", true, "I17"},
		{"orders when asked to prepare", "a draft with an effect", true, "I17"},
		{"two drafts", "prepare is not idempotent", true, "I17"},
		{"commits anything", "a draft that is not there", true, "I17"},
		{"commits for others", "a draft of another one", true, "T4"},
		{"commits changes", "not what was confirmed", true, "I17"},
		{"drafts for ever", "no expiry", true, "I17 expired"},
		{"commits twice", "under another key", true, "I17"},
	} {
		t.Run(tc.mistake, func(t *testing.T) {
			t.Parallel()
			spec := buying()
			if tc.commit {
				spec = committing()
			}
			p := drill.Params{Spec: spec, Target: shop(tc.mistake)}
			if tc.mistake == "hangs" {
				p.Timeout = 500 * time.Millisecond
			}
			r := run(t, p)
			if got := strings.Join(in(r, drill.Breached), ", "); got != tc.rows {
				t.Errorf("%s: found by %q, want %q\n%s", tc.why, got, tc.rows, r.AppendText(nil))
			}
		})
	}
}

// What a tool declares decides what its answers are worth.
func TestPolicies(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, why, mistake string
		declare            func(*drill.Spec)
		row                string
		want               drill.State
	}{
		{"stored, as declared", "a hazard is no breach", "answers other payloads", func(s *drill.Spec) { s.Policies.OtherPayload = drill.OtherStored }, "I5", drill.Warning},
		{"stored is not so", "the declaration is verified", "", func(s *drill.Spec) { s.Policies.OtherPayload = drill.OtherStored }, "I5", drill.Breached},
		{"a conflict is not so", "the code says KEY_REUSED", "", func(s *drill.Spec) { s.Policies.OtherPayload = drill.OtherConflict }, "I5", drill.Breached},
		{"no key, as declared", "a hazard", "invents keys", func(s *drill.Spec) { s.Policies.MissingKey = drill.MissingAllowed }, "I7", drill.Warning},
		{"no key is not allowed", "the declaration is verified", "", func(s *drill.Spec) { s.Policies.MissingKey = drill.MissingAllowed }, "I7", drill.Breached},
		{"errors are stored", "as declared", "stores errors", func(s *drill.Spec) { s.Policies.Errors = drill.ErrorsCached }, "I12", drill.Held},
		{"errors are not stored", "the declaration is verified", "", func(s *drill.Spec) { s.Policies.Errors = drill.ErrorsCached }, "I12", drill.Breached},
		{"replayed for ever", "as declared", "never expires", func(s *drill.Spec) { s.Policies.Expired = drill.ExpiredReplayed }, "I13", drill.Held},
		{"not replayed for ever", "the declaration is verified", "", func(s *drill.Spec) { s.Policies.Expired = drill.ExpiredReplayed }, "I13", drill.Breached},
		{"not refused after expiry", "the declaration is verified", "", func(s *drill.Spec) { s.Policies.Expired = drill.ExpiredRefused }, "I13", drill.Breached},
		{"no expiry declared", "nothing to verify", "", func(s *drill.Spec) { s.Policies.Expiry = 0 }, "I13", drill.NotApplicable},
		{"keys shared by tools", "as declared", "shares keys", func(s *drill.Spec) { s.Policies.SharedByTools = true }, "I14 another tool", drill.Held},
		{"keys shared by tools, and results", "the same arguments get the other tool's result", "mixes tools", func(s *drill.Spec) { s.Policies.SharedByTools = true }, "I14 another tool", drill.Breached},
		{"another tool that takes nothing", "a refusal for its arguments would show nothing", "", func(s *drill.Spec) { s.Another.Args = jsontext.Value(`{"no":1}`) }, "I14 another tool", drill.NotApplicable},
		{"refused before the expiry", "at 90 % of it", "refuses early", func(s *drill.Spec) { s.Policies.Expired = drill.ExpiredRefused }, "I13", drill.Breached},
		{"a stored error that acts", "its effect is counted", "stores errors, acts on a stored error", func(s *drill.Spec) { s.Policies.Errors = drill.ErrorsCached }, "I12", drill.Breached},
		{"another error than was stored", "its code is compared", "stores errors, tells another error later", func(s *drill.Spec) { s.Policies.Errors = drill.ErrorsCached }, "I12", drill.Breached},
		{"no start without payments", "a start with something broken shows nothing of the state", "does not start without payments", func(*drill.Spec) {}, "I12", drill.NotApplicable},
		{"a batch of which nothing is done", "then there is no part", "does nothing of a broken batch", func(*drill.Spec) {}, "I20", drill.NotApplicable},
		{"a lock for ever, without a doubt", "stale: unknown is held to its word", "locks for ever, refuses old locks", func(s *drill.Spec) { s.Policies.Stale = drill.StaleUnknown }, "I18", drill.Breached},
		{"does not start again", "on the state of one that was stopped", "does not start again", func(*drill.Spec) {}, "I9", drill.Breached},
		{"does not start after a crash", "on the state of a killed one", "does not start again", func(*drill.Spec) {}, "I10 before_reserve", drill.Breached},
		{"a lost call is refused", "though nothing of it was written", "refuses new keys after a restart", func(*drill.Spec) {}, "I10 before_reserve", drill.Breached},
		{"a stored result is not given", "after a crash", "refuses old keys after a restart", func(*drill.Spec) {}, "I10 after_record", drill.Breached},
		{"hints that promise nothing", "and nothing to read", "", func(s *drill.Spec) {
			s.Tools[0].Hints = &tool.Hints{ReadOnly: new(false)}
			s.Tools = s.Tools[:1]
		}, "I21", drill.NotApplicable},
		{"a look that does not show its owner", "it tells nothing of others", "", func(s *drill.Spec) {
			s.Looks = []drill.Look{{Tool: "wrap", Args: jsontext.Value(`{"gift":"mug","key":"k"}`), From: pointers("/order")[0]}}
		}, "T3", drill.NotApplicable},
		{"a duplicate in flight is a conflict", "as declared", "", func(s *drill.Spec) { s.Policies.InFlight = drill.InFlightConflict }, "I2", drill.Held},
		{"a lock for ever", "declared as unknown", "locks for ever", func(s *drill.Spec) { s.Policies.Stale = drill.StaleUnknown }, "I18", drill.Held},
		{"the model makes the key", "nothing of the host's", "", func(s *drill.Spec) { s.Key.From = tool.KeyFromModel }, "I15", drill.NotApplicable},
		{"the result of a replay differs where it may", "a volatile field", "answers anew", func(s *drill.Spec) { s.Volatile = pointers("/again") }, "I22", drill.Held},
		{"a hint that it is idempotent", "it is, with the key", "", func(s *drill.Spec) { s.Tools[0].Hints = &tool.Hints{Idempotent: new(true)} }, "I21", drill.Held},
		{"a hint that it is idempotent, and is not", "the key is not looked at", "looks away", func(s *drill.Spec) { s.Tools[0].Hints = &tool.Hints{Idempotent: new(true)} }, "I21", drill.Breached},
		{"a hint that it only reads", "it writes", "", func(s *drill.Spec) { s.Tools[0].Hints = &tool.Hints{ReadOnly: new(true)} }, "I21", drill.Breached},
		{"bad arguments that are good", "validation is held to its word", "", func(s *drill.Spec) { s.Bad = []jsontext.Value{s.Args} }, "I11", drill.Breached},
		{"no key at all", "rows of keys do not apply", "invents keys", func(s *drill.Spec) { s.Key.Field = "" }, "I5", drill.NotApplicable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			spec := buying()
			tc.declare(&spec)
			id, _, _ := strings.Cut(tc.row, " ")
			r := run(t, drill.Params{Spec: spec, Target: shop(strings.Split(tc.mistake, ", ")...), Only: []string{id}})
			if got := r.States()[tc.row]; got != tc.want {
				t.Errorf("%s: %s is %q, want %q\n%s", tc.why, tc.row, got, tc.want, r.AppendText(nil))
			}
		})
	}
}

// What a target cannot do makes rows not applicable, never held.
func TestAbilities(t *testing.T) {
	s := shop("two transactions")
	s.can = drill.Abilities{}
	r := run(t, drill.Params{Spec: buying(), Target: s})
	want := []string{
		"I2 two processes", "I3 crash", "I4 crash", "I9",
		"I10 before_reserve", "I10 after_reserve", "I10 after_effect", "I10 after_record", "I10 effect seen",
		"I12", "I13", "I14 another tenant", "I17", "I17 expired", "I18", "I18 after_effect", "I20", "T1", "T2", "T3", "T4",
	}
	if diff := cmp.Diff(want, in(r, drill.NotApplicable)); diff != "" {
		t.Errorf("a target that can do nothing (-want +got):\n%s", diff)
	}
	for _, row := range r.Of(drill.NotApplicable) {
		if row.What == "" {
			t.Errorf("%s does not apply, and nobody is told why", row.Name())
		}
	}
}

// Without points the process is killed as soon as the probe shows the effect.
func TestKilledWhenTheEffectIsSeen(t *testing.T) {
	for mistake, want := range map[string][]string{"": nil, "two transactions": {"I10 effect seen"}} {
		s := shop(mistake, "slow after the effect")
		s.can.Points = nil
		r := run(t, drill.Params{Spec: buying(), Target: s, Only: []string{"I10"}})
		if diff := cmp.Diff(want, in(r, drill.Breached)); diff != "" {
			t.Errorf("%q (-want +got):\n%s\n%s", mistake, diff, r.AppendText(nil))
		}
	}
}

func TestTwiceTheSameReport(t *testing.T) {
	one := run(t, drill.Params{Spec: buying(), Target: shop("forgets at restart")})
	two := run(t, drill.Params{Spec: buying(), Target: shop("forgets at restart"), Salt: "another"})
	drop := func(r *drill.Report) string {
		r.Rows = slices.DeleteFunc(r.Rows, func(row drill.Row) bool { return row.ID == "I2" }) // who comes first is chance
		return string(r.AppendMarkdown(r.AppendText(nil)))
	}
	if diff := cmp.Diff(drop(one), drop(two)); diff != "" {
		t.Errorf("keys or chance are seen in the report (-one +two):\n%s", diff)
	}
}

// A drill that would say nothing is refused.
func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		why     string
		declare func(*drill.Params)
		want    string
	}{
		{"no target", func(p *drill.Params) { p.Target = nil }, `drill "buy": no target`},
		{"no tool", func(p *drill.Params) { p.Spec.Tool, p.Spec.Name = "", "x" }, `drill "x": no tool`},
		{"one call at once", func(p *drill.Params) { p.Duplicates = 1 }, `1 calls at once are no duplicates; take at least 2`},
		{"fewer than none", func(p *drill.Params) { p.Duplicates = -1 }, `-1 calls at once are no duplicates`},
		{"no time at all", func(p *drill.Params) { p.Timeout = -1 }, `a timeout of -1ns`},
		{"no object", func(p *drill.Params) { p.Spec.Args = jsontext.Value(`[]`) }, `must be a JSON object, are "[]"`},
		{"an unknown invariant", func(p *drill.Params) { p.Only = []string{"I23"} }, `there is no invariant "I23"; there are I1, I2,`},
		{"an example that does not work", func(p *drill.Params) { p.Spec.Args = jsontext.Value(`{"gift":"cup","quantity":1}`) }, `the example call does not succeed: error VALIDATION_ERROR: gift or quantity; give example arguments`},
		{"an example without an effect", func(p *drill.Params) { p.Spec.Tool, p.Spec.Args = "wrap", jsontext.Value(`{"gift":"mug"}`) }, `the probe counts 0 effects of it, not 1; count what one call makes`},
		{"an example with several", func(p *drill.Params) { p.Spec.Args = jsontext.Value(`{"items":["mug","mug"]}`) }, `the probe counts 2 effects of it, not 1`},
		{"a draft that cannot be found", func(p *drill.Params) {
			p.Spec = committing()
			p.Spec.Prepare.From = pointers("/id")[0]
		}, `the answer of "prepare" has no draft id at "/id": {"draft"`},
		{"a schema that is none", func(p *drill.Params) { p.Spec.Tools[0].Input = jsontext.Value(`{"type":7}`) }, `the tool's input schema: `},
	} {
		p := drill.Params{Spec: buying(), Target: shop()}
		tc.declare(&p)
		_, err := drill.Run(t.Context(), p)
		if err == nil || failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s:\n got %v [%s]\nwant %s", tc.why, err, failure.Of(err), tc.want)
		}
	}
}

// An interrupted drill keeps what it knows.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := drill.Run(ctx, drill.Params{Spec: buying(), Target: shop(), Progress: func(done, _ int) {
		if done == 3 {
			cancel()
		}
	}})
	if failure.Of(err) != failure.Interrupted || r.Totals.Held != 3 || r.Totals.NotRun != len(r.Rows)-3 {
		t.Errorf("%v: %s", err, &r.Totals)
	}
}

// What a tool says cannot harm a terminal or a page.
func TestHostileText(t *testing.T) {
	r := &drill.Report{Drill: "a\x1b[2J", Tool: "<b>|`x`", Rows: []drill.Row{{ID: "I1", State: drill.Breached, What: "\u202e\x1b]0;x\x07", Do: "|a|\nb", Steps: []drill.Step{{Do: "call\r\n", Answer: "<script>"}}}}}
	if text := string(r.AppendText(nil)); strings.ContainsAny(text, "\x1b\u202e\x07\r") {
		t.Errorf("the text has control characters: %q", text)
	}
	if page := string(r.AppendMarkdown(nil)); strings.Contains(page, "<b>") || strings.Contains(page, "<script>") || strings.ContainsAny(page, "\x1b\u202e") {
		t.Errorf("the page says more than text: %q", page)
	}
}
