package fault_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/redact"
)

func TestSpecSpelling(t *testing.T) {
	for _, tc := range []struct {
		why, text string
		want      fault.Spec
	}{
		{"a name alone", "model.reset", fault.Spec{Name: "model.reset"}},
		{"a place", "model.reset@call=2,attempt=3,event=7", fault.Spec{Name: "model.reset", At: fault.Address{Call: 2, Attempt: 3, Event: 7}}},
		{"a tool's call", "tool.unavailable@tool=get_weather,call=every,times=every", fault.Spec{
			Name: "tool.unavailable", At: fault.Address{Tool: "get_weather", Call: fault.Every}, Times: fault.Every,
		}},
		{"chance", "tool.unavailable@chance=0.25", fault.Spec{Name: "tool.unavailable", Chance: 0.25}},
		{"a time is spelled short", "tool.lost_ack@delay=1h", fault.Spec{Name: "tool.lost_ack", Params: fault.Params{Delay: time.Hour}}},
		{"a time with parts", "tool.lost_ack@delay=1m30s", fault.Spec{Name: "tool.lost_ack", Params: fault.Params{Delay: 90 * time.Second}}},
		{"what a shell would read is escaped", "tool.unavailable@tool=a%2Cb%25+c%24", fault.Spec{Name: "tool.unavailable", At: fault.Address{Tool: "a,b% c$"}}},
		{"a plus is no blank", "tool.injection@text=1%2B1~2", fault.Spec{Name: "tool.injection", Params: fault.Params{Text: "1+1~2"}}},
		{"a run is repeated", "host.regenerate@times=2", fault.Spec{Name: "host.regenerate", Times: 2}},
	} {
		got, err := fault.ParseSpec(tc.text)
		if err != nil {
			t.Errorf("%s: %v", tc.why, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
		if s := got.String(); s != tc.text {
			t.Errorf("%s: is spelled %s, want %s", tc.why, s, tc.text)
		}
	}
}

// What need not be escaped may stand as it is.
func TestSpecIsReadGenerously(t *testing.T) {
	got, err := fault.ParseSpec("tool.unavailable@tool=%61 b=c,call=1")
	want := fault.Spec{Name: "tool.unavailable", At: fault.Address{Tool: "a b=c", Call: 1}}
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestSpecRefused(t *testing.T) {
	for _, tc := range []struct{ why, text, want string }{
		{"a misspelled name", "model.overloded", `unknown fault "model.overloded" (did you mean "model.overloaded"?); see: retake faults`},
		{"an unlike name", "gremlins", `unknown fault "gremlins"; see: retake faults`},
		{"no name", "", `unknown fault ""; see: retake faults`},
		{"nothing after the @", "model.reset@", `fault "model.reset@": a pair is empty; write NAME@key=value,key=value`},
		{"a misspelled key", "model.reset@cal=2", `fault "model.reset@cal=2": unknown key "cal" (did you mean "call"?)`},
		{"an unlike key", "model.reset@x=2", `fault "model.reset@x=2": unknown key "x"; known are tool, call, attempt, event, times, chance, delay, status, retry_after, bytes, count, text, kind, effect`},
		{"a key twice", "model.reset@call=2,call=3", `fault "model.reset@call=2,call=3": call is given twice; drop one`},
		{"a key without a value", "model.reset@call", `fault "model.reset@call": call=: it has no value`},
		{"call 0", "model.reset@call=0", `fault "model.reset@call=0": call=0: must be a number from 1 on, or every`},
		{"every attempt", "model.reset@attempt=every", `fault "model.reset@attempt=every": attempt=every: must be a number from 1 on`},
		{"a time without a unit", "tool.lost_ack@delay=10", `fault "tool.lost_ack@delay=10": delay=10: must be a time with its unit, like 500ms, 10s or 2m`},
		{"a chance over 1", "model.reset@chance=30", `fault "model.reset@chance=30": chance=30: must be more than 0 and at most 1`},
		{"a half escape", "tool.unavailable@tool=100%", `fault "tool.unavailable@tool=100%": tool=100%: a percent sign is written %25`},
		{"a tool for a model's fault", "model.reset@tool=get_weather", `fault "model.reset@tool=get_weather": model.reset strikes the model's answers, not a tool; drop tool`},
		{"an event of what is no stream", "model.overloaded@event=2", `fault "model.overloaded@event=2": model.overloaded strikes the answer as a whole, not inside a stream; drop event`},
		{"an event of a tool", "tool.lost_ack@event=2", `fault "tool.lost_ack@event=2": tool.lost_ack strikes the tool call as a whole, not inside a stream; drop event`},
		{"a place of what has none", "host.regenerate@call=1", `fault "host.regenerate@call=1": host.regenerate strikes the run as a whole; drop tool, call, attempt and event`},
		{"a run for ever", "host.regenerate@times=every", `fault "host.regenerate@times=every": host.regenerate needs a number of times; a run that is repeated for ever has no end`},
		{"a parameter that does not fit", "tool.lost_ack@status=503", `fault "tool.lost_ack@status=503": tool.lost_ack takes no status; it takes delay`},
		{"an unknown kind", "model.bad_body@kind=htlm", `fault "model.bad_body@kind=htlm": model.bad_body has no kind "htlm" (did you mean "html"?); it has html, json, empty`},
		{"a status that is no failure", "model.client_error@status=200", `fault "model.client_error@status=200": status 200 is no failure; say one from 400 to 499`},
		{"a quota", "model.client_error@status=429", `fault "model.client_error@status=429": status 429 may be tried again; it is the fault model.rate_limit, or model.rate_limit_bare`},
		{"no room", "model.client_error@status=529", `fault "model.client_error@status=529": status 529 may be tried again; it is the fault model.overloaded`},
		{"a defect of the server", "model.client_error@status=502", `fault "model.client_error@status=502": status 502 may be tried again; a failure of the server is the fault model.server_error`},
		{"a conflict", "model.client_error@status=409", `fault "model.client_error@status=409": status 409 may pass by itself, so a loop may try again; model.client_error needs one after which it must not, such as 400, 401, 403, 404 or 413`},
		{"a result that fills the memory", "tool.oversized@bytes=67108865", `fault "tool.oversized@bytes=67108865": bytes is at most 67,108,864, is 67108865`},
		{"a burst that never ends", "model.parallel_burst@count=1001", `fault "model.parallel_burst@count=1001": count is at most 1,000, is 1001`},
		{"more often than any run is long", "model.reset@times=1001", `fault "model.reset@times=1001": times is at most 1,000, is 1001`},
		{"a task that goes on for days", "host.regenerate@times=101", `fault "host.regenerate@times=101": host.regenerate runs the task again at most 100 times, is 101`},
		{"a wait beyond the year", "model.rate_limit@retry_after=10001h", `fault "model.rate_limit@retry_after=10001h": retry_after is at most 10,000 hours, is 10001h`},
		{"a silence beyond the year", "model.timeout@delay=10000h1ns", `fault "model.timeout@delay=10000h1ns": delay is at most 10,000 hours, is 10000h0m0.000000001s`},
		{"places that no run has", "model.timeout@call=1000001,attempt=1000001,event=1000001", `fault "model.timeout@call=1000001,attempt=1000001,event=1000001": call is at most 1,000,000, is 1000001; attempt is at most 1,000,000, is 1000001; event is at most 1,000,000, is 1000001`},
		{"a value in another spelling is shown in one", "tool.injection@text=%7e(a b),x=1", `fault "tool.injection@text=~%28a+b%29,x=1": unknown key "x"; known are tool, call, attempt, event, times, chance, delay, status, retry_after, bytes, count, text, kind, effect`},
		{"half a second", "model.rate_limit@retry_after=1500ms", `fault "model.rate_limit@retry_after=1500ms": retry_after is sent in whole seconds, is 1.5s`},
		{"an effect that is none", "tool.cancelled@effect=during", `fault "tool.cancelled@effect=during": effect=during: must be before or after`},
		{"two at once", "model.reset@tool=a,text=b", `fault "model.reset@tool=a,text=b": model.reset strikes the model's answers, not a tool; drop tool; model.reset takes no text; it takes no parameters`},
	} {
		_, err := fault.ParseSpec(tc.text)
		if failure.Of(err) != failure.ScenarioInvalid || err.Error() != tc.want {
			t.Errorf("%s:\n got %v\nwant %s", tc.why, err, tc.want)
		}
	}
}

// What a program may put into a Spec, and a text cannot.
func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		why  string
		spec fault.Spec
		want string
	}{
		{"a negative call", fault.Spec{Name: "model.reset", At: fault.Address{Call: -2}}, "call must be a number from 1 on, is -2"},
		{"a chance over 1", fault.Spec{Name: "model.reset", Chance: 1.5}, "chance must be more than 0 and at most 1, is 1.5"},
		{"a negative time", fault.Spec{Name: "tool.lost_ack", Params: fault.Params{Delay: -1}}, "delay must not be negative"},
	} {
		if err := tc.spec.Check(); err == nil || !strings.HasSuffix(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.why, err, tc.want)
		}
	}
}

// drawSpec is any spec that Check lets through.
func drawSpec(t *rapid.T) fault.Spec {
	f := rapid.SampledFrom(fault.Catalogue()).Draw(t, "fault")
	s := fault.Spec{Name: f.Name, Times: rapid.IntRange(0, 3).Draw(t, "times")}
	if f.Side() != fault.SideHost {
		s.At.Call = rapid.IntRange(fault.Every, 4).Draw(t, "call")
		s.At.Attempt = rapid.IntRange(0, 3).Draw(t, "attempt")
		s.Chance = rapid.SampledFrom([]float64{0, 1, 0.3, 1e-9}).Draw(t, "chance")
		s.Times = rapid.IntRange(fault.Every, 4).Draw(t, "times")
	}
	if f.Side() == fault.SideTool {
		s.At.Tool = rapid.String().Draw(t, "tool")
	}
	if f.Inside != fault.NotInside {
		s.At.Event = rapid.IntRange(0, 9).Draw(t, "event")
	}
	for _, p := range f.Takes {
		drawParam(t, p.Name, f.Kinds, &s.Params)
	}
	return s
}

func drawParam(t *rapid.T, name string, kinds []string, p *fault.Params) {
	switch name {
	case "delay":
		p.Delay = time.Duration(rapid.Int64Range(0, 1<<50).Draw(t, name))
	case "status":
		p.Status = rapid.SampledFrom([]int{400, 401, 402, 404, 410, 413, 422, 499}).Draw(t, name)
	case "retry_after":
		p.RetryAfter = time.Duration(rapid.Int64Range(0, 7200).Draw(t, name)) * time.Second
	case "bytes":
		p.Bytes = rapid.IntRange(0, 1<<20).Draw(t, name)
	case "count":
		p.Count = rapid.IntRange(0, 50).Draw(t, name)
	case "text":
		p.Text = rapid.String().Draw(t, name)
	case "kind":
		p.Kind = rapid.SampledFrom(append([]string{""}, kinds...)).Draw(t, name)
	case "effect":
		p.Effect = rapid.SampledFrom([]fault.Effect{"", fault.Before, fault.After}).Draw(t, name)
	}
}

// A spec that is spelled and read again is the same.
func TestSpecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		got, err := fault.ParseSpec(s.String())
		if err != nil || got != s {
			t.Fatalf("%s was read as %+v, %v", s, got, err)
		}
	})
}

// Whatever a secret is made of, redact finds it in a spec's spelling, and in the
// message about a spec that is refused, however that was spelled.
func TestASecretInASpecIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.OneOf(rapid.SampledFrom([]string{"s3cr(et)!~x$A", "pass word$1&x"}), rapid.StringN(redact.Least, 30, -1)).Draw(t, "secret")
		v := redact.New(redact.Secret{Name: "KEY", Value: secret})
		s := fault.Spec{Name: "tool.injection", Params: fault.Params{Text: "take " + secret + ", please"}}
		if _, ok := v.Found([]byte(s.String())); !ok {
			t.Fatalf("%s has %q, and it is not found", s, secret)
		}
		var mixed strings.Builder
		for _, c := range []byte(secret) {
			if rapid.Bool().Draw(t, "escaped") || c == '%' || c == ',' || c == '+' {
				fmt.Fprintf(&mixed, "%%%02x", c)
			} else {
				mixed.WriteByte(c)
			}
		}
		_, err := fault.ParseSpec("tool.injection@text=" + mixed.String() + ",call=0")
		if err == nil {
			t.Fatal("call 0 is taken")
		}
		if _, ok := v.Found([]byte(err.Error())); !ok {
			t.Fatalf("%v has %q, and it is not found", err, secret)
		}
	})
}

func FuzzParseSpec(f *testing.F) {
	for _, text := range []string{"model.reset", "model.reset@call=2,event=7", "tool.lost_ack@tool=a%2Cb,delay=1h0m5s", "tool.unavailable@chance=1e-3,times=every", "tool.injection@text=+%2b%7E(a b)", "x@y=z"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := fault.ParseSpec(text)
		if err != nil {
			if failure.Of(err) != failure.ScenarioInvalid {
				t.Fatalf("%q: class %s", text, failure.Of(err))
			}
			return
		}
		again, err := fault.ParseSpec(s.String())
		if err != nil || again != s {
			t.Fatalf("%q is spelled %s, and that was read as %+v, %v", text, s, again, err)
		}
	})
}
