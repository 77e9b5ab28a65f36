package transcript_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/transcript"
)

func made(calls ...string) []transcript.Call {
	var out []transcript.Call
	for _, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		out = append(out, transcript.Call{Tool: name, Args: jsontext.Value(args)})
	}
	return out
}

func anyArgs(tools ...string) []transcript.ExpectedCall {
	var out []transcript.ExpectedCall
	for _, name := range tools {
		out = append(out, transcript.ExpectedCall{Tool: name})
	}
	return out
}

func value(name, v string) transcript.ExpectedArg {
	return transcript.ExpectedArg{Name: name, Value: jsontext.Value(v)}
}

func with(tool string, mode transcript.ArgsMode, args ...transcript.ExpectedArg) transcript.ExpectedCall {
	return transcript.ExpectedCall{Tool: tool, Mode: mode, Args: args}
}

func TestMatchModes(t *testing.T) {
	a1 := with("a", "", value("n", "1"))
	for _, tc := range []struct {
		why  string
		mode transcript.Mode
		want []transcript.ExpectedCall
		made []transcript.Call
		bad  []string
	}{
		{"strict takes the same calls", transcript.Strict, anyArgs("a", "b"), made("a {}", "b {}"), nil},
		{"no mode is strict", "", anyArgs("a", "b"), made("b {}", "a {}"), []string{"call 1: want a, got b", "call 2: want b, got a"}},
		{"strict wants all", transcript.Strict, anyArgs("a", "b"), made("a {}"), []string{"call 2: want b, the run ended before"}},
		{"and no more", transcript.Strict, anyArgs("a"), made("a {}", `b {"x":1}`), []string{`call 2: b{"x":1} was not expected`}},
		{"no expected call means no call", transcript.Strict, nil, made("a {}"), []string{"call 1: a{} was not expected"}},
		{"unordered takes any order", transcript.Unordered, anyArgs("a", "b"), made("b {}", "a {}"), nil},
		{"but each as often as it is said", transcript.Unordered, anyArgs("a", "b"), made("a {}", "a {}"), []string{"missing: b", "call 2: a{} was not expected"}},
		{"subset allows fewer", transcript.Subset, anyArgs("a", "b"), made("b {}"), nil},
		{"but no others", transcript.Subset, anyArgs("a", "b"), made("b {}", "c {}"), []string{"call 2: c{} was not expected"}},
		{"superset allows more", transcript.Superset, anyArgs("b"), made("a {}", "b {}"), nil},
		{"but not fewer", transcript.Superset, anyArgs("b", "b"), made("a {}", "b {}"), []string{"missing: b (call 2 fits, and counts for another)"}},
		{
			"a miss says what the nearest call has", transcript.Superset,
			[]transcript.ExpectedCall{a1},
			made(`a {"n":2}`),
			[]string{`missing: a (call 1: a: argument "n": want 1, got 2)`},
		},
		{
			"a loose expectation does not take what a strict one needs", transcript.Unordered,
			[]transcript.ExpectedCall{{Tool: "a"}, a1},
			made(`a {"n":1}`, `a {"n":2}`), nil,
		},
		{
			"nor over a chain of three", transcript.Unordered,
			[]transcript.ExpectedCall{{Tool: "a"}, with("a", transcript.ArgsSuperset, value("n", "1")), with("a", "", value("n", "1"))},
			made(`a {"n":1}`, `a {"n":1,"m":2}`, `a {"k":3}`), nil,
		},
	} {
		m := transcript.Match{Mode: tc.mode, Calls: tc.want}
		if diff := cmp.Diff(tc.bad, m.Check(tc.made)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

func TestMatchArguments(t *testing.T) {
	n, one := value("n", "1"), 1.0
	contains, date := "London", "2026-07-14"
	for _, tc := range []struct {
		why  string
		want transcript.ExpectedCall
		args string
		bad  string
	}{
		{"exact takes the same", with("f", transcript.ArgsExact, n), `{"n":1}`, ""},
		{"no mode with arguments is exact", with("f", "", n), `{"n":1,"m":2}`, `f: argument "m" was not expected`},
		{"exact without arguments wants none", with("f", transcript.ArgsExact), `{"n":1}`, `f: argument "n" was not expected`},
		{"no mode without arguments takes all", with("f", ""), `{"n":1}`, ""},
		{"ignore does not look", with("f", transcript.ArgsIgnore, n), `{"m":2}`, ""},
		{"subset: fewer", with("f", transcript.ArgsSubset, n, value("m", "2")), `{"m":2}`, ""},
		{"subset: no others", with("f", transcript.ArgsSubset, n), `{"m":2}`, `f: argument "m" was not expected`},
		{"subset: those that are there must fit", with("f", transcript.ArgsSubset, n), `{"n":2}`, `f: argument "n": want 1, got 2`},
		{"superset: more", with("f", transcript.ArgsSuperset, n), `{"n":1,"m":2}`, ""},
		{"superset: not fewer", with("f", transcript.ArgsSuperset, n), `{"m":2}`, `f: argument "n" is missing`},
		{"arguments that are no object", with("f", "", n), `[1]`, `f: the arguments are no JSON object: [1]`},
		{"values are equal as JSON", with("f", "", value("o", `{"a":1,"b":[2]}`)), `{"o": {"b": [ 2 ], "a": 1}}`, ""},
		{"a text is no number", with("f", "", n), `{"n":"1"}`, `f: argument "n": want 1, got "1"`},
		{"null is a value", with("f", "", value("n", "null")), `{"n":null}`, ""},
		{"contains", with("f", "", transcript.ExpectedArg{Name: "c", Contains: &contains}), `{"c":"London, UK"}`, ""},
		{"contains looks at the text, not its spelling", with("f", "", transcript.ExpectedArg{Name: "c", Contains: &contains}), `{"c":"\u004condon"}`, ""},
		{"does not contain", with("f", "", transcript.ExpectedArg{Name: "c", Contains: &contains}), `{"c":"Paris"}`, `f: argument "c": want a text with "London", got "Paris"`},
		{"matches", with("f", "", transcript.ExpectedArg{Name: "c", Regexp: regexp.MustCompile("^L")}), `{"c":"London"}`, ""},
		{"does not match", with("f", "", transcript.ExpectedArg{Name: "c", Regexp: regexp.MustCompile("^P")}), `{"c":"London"}`, `f: argument "c": want a match of "^P", got "London"`},
		{"a number within the tolerance", with("f", "", transcript.ExpectedArg{Name: "n", Number: &one, Tolerance: 0.5}), `{"n":1.5}`, ""},
		{"a number as a text", with("f", "", transcript.ExpectedArg{Name: "n", Number: &one}), `{"n":"1.0"}`, ""},
		{"a number outside", with("f", "", transcript.ExpectedArg{Name: "n", Number: &one, Tolerance: 0.5}), `{"n":0.4}`, `f: argument "n": want 1 ± 0.5, got 0.4`},
		{"no number", with("f", "", transcript.ExpectedArg{Name: "n", Number: &one}), `{"n":"NaN"}`, `f: argument "n": want 1 ± 0, got "NaN"`},
		{"the same day in other words", with("f", "", transcript.ExpectedArg{Name: "d", Date: &date}), `{"d":"14 July 2026"}`, ""},
		{"and with its time", with("f", "", transcript.ExpectedArg{Name: "d", Date: &date}), `{"d":"2026-07-14T23:30:00-05:00"}`, ""},
		{"another day", with("f", "", transcript.ExpectedArg{Name: "d", Date: &date}), `{"d":"2026-07-15"}`, `f: argument "d": want the day 2026-07-14, got "2026-07-15"`},
		{"no day", with("f", "", transcript.ExpectedArg{Name: "d", Date: &date}), `{"d":"tomorrow"}`, `f: argument "d": want the day 2026-07-14, got "tomorrow"`},
	} {
		m := transcript.Match{Calls: []transcript.ExpectedCall{tc.want}}
		got := strings.TrimPrefix(strings.Join(m.Check(made("f "+tc.args)), "\n"), "call 1: ")
		if got != tc.bad {
			t.Errorf("%s: got %q, want %q", tc.why, got, tc.bad)
		}
	}
}

// What was made, in any order and seen loosely or strictly, is what was
// expected; one call more is not.
func TestUnorderedFindsThePairing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var calls []transcript.Call
		var want []transcript.ExpectedCall
		for range rapid.IntRange(1, 6).Draw(t, "calls") {
			n := rapid.SampledFrom([]string{"1", "2"}).Draw(t, "n")
			calls = append(calls, made(`f {"n":`+n+`}`)...)
			e := with("f", "", value("n", n))
			if rapid.Bool().Draw(t, "loose") {
				e = with("f", transcript.ArgsIgnore)
			}
			want = append(want, e)
		}
		calls = rapid.Permutation(calls).Draw(t, "order")
		m := transcript.Match{Mode: transcript.Unordered, Calls: want}
		if bad := m.Check(calls); bad != nil {
			t.Fatalf("%v does not fit %v: %v", calls, want, bad)
		}
		if bad := m.Check(append(calls, made("f {}")...)); len(bad) != 1 {
			t.Fatalf("one call more: %v", bad)
		}
	})
}
