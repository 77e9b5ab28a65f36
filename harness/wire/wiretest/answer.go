package wiretest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// Tokens words a usage: "input 3, output 5"; a figure not reported is left out.
func Tokens(u wire.Usage) string {
	var out []string
	for _, f := range []struct {
		name string
		n    *int64
	}{{"input", u.Input}, {"cache read", u.CacheRead}, {"cache write", u.CacheWrite}, {"output", u.Output}, {"reasoning", u.Reasoning}} {
		if f.n != nil {
			out = append(out, fmt.Sprintf("%s %d", f.name, *f.n))
		}
	}
	return strings.Join(out, ", ")
}

// answerLaws: a scripted turn survives JSON and stream; what was read from the
// one is written to the other and back without loss.
func answerLaws(c wire.Codec, s Shape) func(t *rapid.T) {
	gen := answers(s)
	return func(t *rapid.T) {
		r := gen.Draw(t, "answer")
		var first *wire.Response
		for _, stream := range []bool{false, true} {
			got, body := roundTrip(t, c, r, stream)
			ignore := cmpopts.IgnoreFields(wire.Response{}, "RawStop", "Reported", "RawUsage", "Streamed", "Extra")
			if diff := cmp.Diff(r, got, neutral, ignore); diff != "" {
				t.Fatalf("%s\nreads differently (-sent +read):\n%s", body, diff)
			}
			if first == nil {
				first = got
			}
			again, body := roundTrip(t, c, first, stream)
			if diff := cmp.Diff(first, again, neutral, cmpopts.IgnoreFields(wire.Response{}, "Streamed")); diff != "" {
				t.Fatalf("%s\nreads differently the second time (-sent +read):\n%s", body, diff)
			}
		}
	}
}

type fataler interface{ Fatalf(string, ...any) }

func roundTrip(t fataler, c wire.Codec, r *wire.Response, stream bool) (*wire.Response, []byte) {
	body, err := c.EncodeResponse(nil, r, stream)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	status := 200
	if r.Err != nil {
		status = r.Err.Status
	}
	contentType := "application/json"
	if stream && sse.Is("", body) {
		contentType = "text/event-stream"
	}
	got, err := c.DecodeResponse(status, contentType, body)
	if err != nil {
		t.Fatalf("decode %s: %v", body, err)
	}
	if stream != got.Streamed && status == 200 {
		t.Fatalf("%s: streamed = %v", body, got.Streamed)
	}
	return got, body
}

func literalAnswers(t *testing.T, c wire.Codec, f Fixtures) {
	t.Helper()
	for _, a := range f.Answers {
		t.Run(a.Why, func(t *testing.T) {
			r := checkAnswer(t, c, a, a.Body)
			if r == nil {
				return
			}
			encodeAgain(t, c, a, r)
			nextRequest(t, c, a, r)
			if r.Streamed && sse.Is("", []byte(a.Body)) {
				streamVariants(t, c, a)
			}
		})
	}
}

func checkAnswer(t *testing.T, c wire.Codec, a Answer, body string) *wire.Response {
	t.Helper()
	status := a.Status
	if status == 0 {
		status = 200
	}
	r, err := c.DecodeResponse(status, a.ContentType, []byte(body))
	if err != nil {
		t.Errorf("decode %s: %v", body, err)
		return nil
	}
	want := a.Want
	want.Calls = canonicalArgs(want.Calls)
	if diff := cmp.Diff(want, meaning(r), neutral); diff != "" {
		t.Errorf("%s\n(-want +got):\n%s", body, diff)
	}
	return r
}

// meaning is what an answer came to, in the terms of Want.
func meaning(r *wire.Response) Want {
	w := Want{
		ID: r.ID, Model: r.Model, Stop: r.Stop, RawStop: r.RawStop, Err: worded(r.Err), Incomplete: !r.Complete,
		Usage: Tokens(r.Usage), Reported: Tokens(r.Reported),
	}
	for _, b := range r.Message.Blocks {
		switch b.Kind {
		case wire.KindText, wire.KindRefusal:
			w.Text += b.Text
		case wire.KindReasoning:
			w.Reasoning += b.Text
		case wire.KindToolCall:
			w.Calls = append(w.Calls, Call{ID: b.ID, Name: b.Name, Args: string(b.Args), ArgsText: b.ArgsText})
		default: // no words of its own
		}
	}
	w.Calls = canonicalArgs(w.Calls)
	for _, p := range r.Problems {
		w.Problems = append(w.Problems, p.Kind)
	}
	return w
}

// worded is an error by what every API can say of it.
func worded(e *wire.APIError) *wire.APIError {
	if e == nil {
		return nil
	}
	return &wire.APIError{Status: e.Status, Type: e.Type, Message: e.Message}
}

func canonicalArgs(calls []Call) []Call {
	calls = slices.Clone(calls)
	for i := range calls {
		v := jsontext.Value(calls[i].Args)
		if v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) == nil {
			calls[i].Args = string(v)
		}
	}
	return calls
}

// errorsInStreams: an error that a provider would send in place of a stream's first
// event is written as the one event, and read as that error.
func errorsInStreams(t *testing.T, c wire.Codec) {
	t.Helper()
	sent := &wire.Response{Err: &wire.APIError{Status: 200, Type: "UNAVAILABLE", Code: "503", Message: "no room"}}
	body, err := c.EncodeResponse(nil, sent, true)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	if n := len(sse.Ends(body)); n != 1 {
		t.Errorf("%s: %d events, want the error alone", body, n)
	}
	got, err := c.DecodeResponse(200, "text/event-stream", body)
	if err != nil {
		t.Fatalf("decode %s: %v", body, err)
	}
	if diff := cmp.Diff(worded(sent.Err), worded(got.Err)); diff != "" {
		t.Errorf("%s\nreads differently (-sent +read):\n%s", body, diff)
	}
}

// encodeAgain: an answer without defects is written and read without loss, in
// its own form and in the other.
func encodeAgain(t *testing.T, c wire.Codec, a Answer, r *wire.Response) {
	t.Helper()
	if len(r.Problems) > 0 {
		return
	}
	for _, stream := range []bool{false, true} {
		if r.Err != nil && stream != r.Streamed {
			continue
		}
		again, body := roundTrip(t, c, r, stream)
		ignore := cmp.Options{cmpopts.IgnoreFields(wire.Response{}, "Streamed"), cmpopts.IgnoreFields(wire.APIError{}, "Kind", "Code")}
		if diff := cmp.Diff(r, again, neutral, ignore); diff != "" {
			t.Errorf("%s\nwas written (stream %v) as %s\nand reads differently (-first +again):\n%s", a.Body, stream, body, diff)
		}
	}
}

// nextRequest sends the message back: its blocks survive unchanged.
func nextRequest(t *testing.T, c wire.Codec, a Answer, r *wire.Response) {
	t.Helper()
	if len(r.Message.Blocks) == 0 {
		return
	}
	next := &wire.Request{Model: "test-model", Messages: []wire.Message{r.Message}}
	body, err := c.EncodeRequest(nil, next)
	if err != nil {
		t.Fatalf("send the message back: %v", err)
	}
	for _, text := range a.Keep {
		if !strings.Contains(string(body), text) {
			t.Errorf("%q is lost in the next request: %s", text, body)
		}
	}
	if len(r.Problems) > 0 {
		return
	}
	back, err := c.DecodeRequest(c.Path("test-model", false), body)
	if err != nil {
		t.Fatalf("read the next request %s: %v", body, err)
	}
	if diff := cmp.Diff(next.Messages, back.Messages, neutral); diff != "" {
		t.Errorf("%s\nchanged on its way into the next request %s (-answer +request):\n%s", a.Body, body, diff)
	}
}

// streamVariants: a stream means the same however its lines are written.
func streamVariants(t *testing.T, c wire.Codec, a Answer) {
	t.Helper()
	var bare []string
	for line := range strings.Lines(a.Body) {
		if !strings.HasPrefix(line, "event:") {
			bare = append(bare, line)
		}
	}
	for name, body := range map[string]string{
		"CRLF":                strings.ReplaceAll(a.Body, "\n", "\r\n"),
		"CR":                  strings.ReplaceAll(a.Body, "\n", "\r"),
		"without event lines": strings.Join(bare, ""),
		"unterminated":        strings.TrimRight(a.Body, "\n"),
		"with comments":       ": ping\n\n" + strings.ReplaceAll(a.Body, "\n\n", "\n\n: ping\n\n"),
		"byte order mark":     "\xef\xbb\xbf" + a.Body,
	} {
		t.Run(name, func(t *testing.T) { checkAnswer(t, c, a, body) })
	}
}

// unreadable: what is no answer of the API at all is an error of class protocol,
// or the provider's error when the status says so.
func unreadable(t *testing.T, c wire.Codec) {
	t.Helper()
	bodies := []string{
		"", "  \n", "{}", "[]", "null", `"text"`, "{", `{"unknown":1}`, "<html><body>Bad gateway</body></html>",
		"data: <html>\n\n", ": only a comment\n\n", "data: {}\n\n", "\x1f\x8b\x08\x00",
	}
	for _, body := range bodies {
		for _, contentType := range []string{"", "application/json", "text/event-stream", "text/html"} {
			r, err := c.DecodeResponse(200, contentType, []byte(body))
			if failure.Of(err) != failure.Protocol {
				t.Errorf("200 %s %q: got %+v, %v; want an error of class protocol", contentType, body, r, err)
			}
			r, err = c.DecodeResponse(502, contentType, []byte(body))
			if err != nil || r.Err == nil || r.Err.Status != 502 {
				t.Errorf("502 %s %q: got %+v, %v; want Err with the status", contentType, body, r, err)
			}
		}
	}
}

// coverage: the fixtures show each defect at least once.
func coverage(t *testing.T, f Fixtures) {
	t.Helper()
	missing := map[string]bool{}
	need := func(what string, shown bool) {
		if _, ok := missing[what]; !ok || shown {
			missing[what] = !shown
		}
	}
	for _, a := range f.Answers {
		stream := sse.Is(a.ContentType, []byte(a.Body))
		for _, k := range []wire.ProblemKind{wire.ProblemNoTerminal, wire.ProblemBadEvent} {
			need(string(k), slices.Contains(a.Want.Problems, k))
		}
		if f.Shape.CallIDs {
			need("duplicate id", slices.Contains(a.Want.Problems, wire.ProblemDuplicateID))
		}
		need("an event in the middle that is no JSON", a.Want.Incomplete && a.Want.Stop != wire.StopNone && slices.Contains(a.Want.Problems, wire.ProblemBadEvent))
		need("unknown stop", a.Want.Stop == wire.StopUnknown)
		need("truncated", a.Want.Stop == wire.StopTruncated)
		need("an error inside a stream with status 200", stream && a.Status < 400 && a.Want.Err != nil)
		need("an error with its status", a.Status >= 400 && a.Want.Err != nil)
		need("a stream with calls", stream && len(a.Want.Calls) > 0)
		need("parallel calls in JSON", !stream && len(a.Want.Calls) > 1)
		need("reasoning that is kept, in JSON", !stream && len(a.Keep) > 0)
		need("reasoning that is kept, in a stream", stream && len(a.Keep) > 0)
		need("cached input", strings.Contains(a.Want.Usage, "cache read"))
		need("reasoning tokens", strings.Contains(a.Want.Usage, "reasoning"))
	}
	for what, yes := range missing {
		if yes {
			t.Errorf("no answer shows: %s", what)
		}
	}
}
