package openai_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openai"
)

func TestSetArgs(t *testing.T) {
	for _, tc := range []struct {
		why, text string
		cut       bool
		want      wire.Block
		problem   wire.ProblemKind
	}{
		{"an object, spelled as received", "{\"a\": 1}\n", false, wire.Block{Args: jsontext.Value("{\"a\": 1}\n")}, ""},
		{"nothing, from a server that sends that for no parameters", "", false, wire.Block{}, ""},
		{"nothing, where the answer was cut", "", true, wire.Block{}, wire.ProblemArgsCut},
		{"blanks stay", " ", false, wire.Block{ArgsText: " "}, ""},
		{"cut", `{"a`, true, wire.Block{ArgsText: `{"a`}, wire.ProblemArgsCut},
		{"never JSON", `a=1`, true, wire.Block{ArgsText: `a=1`}, wire.ProblemArgsInvalid},
		{"no object", `[1]`, false, wire.Block{Args: jsontext.Value(`[1]`)}, wire.ProblemArgsInvalid},
	} {
		var got wire.Block
		problem := openai.SetArgs(&got, []byte(tc.text), tc.cut)
		if diff := cmp.Diff(tc.want, got); diff != "" || problem != tc.problem {
			t.Errorf("%s: problem %q, want %q (-want +got):\n%s", tc.why, problem, tc.problem, diff)
		}
	}
}

func TestNeutral(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for _, tc := range []struct {
		why            string
		reported, want wire.Usage
		apart          bool
	}{
		{"what was not reported is not made up", wire.Usage{}, wire.Usage{}, false},
		{"the cache is part of the input", wire.Usage{Input: n(10), CacheRead: n(4), CacheWrite: n(1)}, wire.Usage{Input: n(5), CacheRead: n(4), CacheWrite: n(1)}, false},
		{"more cache than input", wire.Usage{Input: n(1), CacheRead: n(4)}, wire.Usage{Input: n(0), CacheRead: n(4)}, false},
		{"reasoning within the output", wire.Usage{Output: n(7), Reasoning: n(3)}, wire.Usage{Output: n(7), Reasoning: n(3)}, false},
		{"reasoning beside the output", wire.Usage{Output: n(7), Reasoning: n(3)}, wire.Usage{Output: n(10), Reasoning: n(3)}, true},
	} {
		if diff := cmp.Diff(tc.want, openai.Neutral(tc.reported, tc.apart)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

func TestInBody(t *testing.T) {
	for _, tc := range []struct {
		why, body string
		want      string // type: message; empty for no error
	}{
		{"an object", `{"error":{"type":"t","message":"m"}}`, "t: m"},
		{"a text", `{"error":"m"}`, "http_200: m"},
		{"a code that is a number", `{"error":{"code":400,"message":"m"}}`, "http_400: m"},
		{"null beside an answer", `{"error":null,"id":"x"}`, ""},
		{"an empty text", `{"error":""}`, ""},
		{"none", `{"id":"x"}`, ""},
	} {
		got := ""
		if err := openai.InBody(200, jsontext.Value(tc.body)); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: %s: got %q, want %q", tc.why, tc.body, got, tc.want)
		}
	}
}

func TestWithout(t *testing.T) {
	dropB := func(name string, _ jsontext.Value) bool { return strings.HasPrefix(name, "b") }
	for _, tc := range []struct{ why, object, want string }{
		{"a member goes", `{"a":1,"b":2,"c":{"b":3}}`, `{"a":1,"c":{"b":3}}`},
		{"nothing to drop: the spelling stays", `{ "a" : 1 }`, `{ "a" : 1 }`},
		{"none left", `{"b":1}`, ``},
	} {
		if got := openai.Without(jsontext.Value(tc.object), dropB); string(got) != tc.want {
			t.Errorf("%s: got %s, want %s", tc.why, got, tc.want)
		}
	}
}

func TestCheckObject(t *testing.T) {
	for _, tc := range []struct{ why, body, want string }{
		{"an object", ` {"a":1}`, ""},
		{"no JSON", `<html>`, "reading: the body is not JSON"},
		{"a list", `[1]`, "reading: the body is JSON but no object"},
	} {
		err := openai.CheckObject("reading", []byte(tc.body))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tc.want || err != nil && failure.Of(err) != failure.Protocol {
			t.Errorf("%s: got %q of class %q, want %q", tc.why, got, failure.Of(err), tc.want)
		}
	}
}
