package fault_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/schema"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

const weatherSchema = `{"type":"object","additionalProperties":false,"required":["city"],"properties":{
	"city":{"type":"string","minLength":2},"days":{"type":"integer","minimum":1,"maximum":14}}}`

func weatherInput(t *testing.T) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(jsontext.Value(weatherSchema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// exchange is one fault on one API: what the agent's end saw.
type exchange struct {
	*rig
	ctx   context.Context
	first got // the answer that was struck
	ran   []tool.Call
	exec  map[string]tool.Executor
}

// again sends the struck request once more: a further attempt.
func (x *exchange) again(t *testing.T) got { t.Helper(); return x.ask(t, x.ctx, "first") }

// next sends another request.
func (x *exchange) next(t *testing.T, text string) got { t.Helper(); return x.ask(t, x.ctx, text) }

func (x *exchange) anthropic() bool { return x.api == wire.AnthropicMessages }
func (x *exchange) gemini() bool    { return x.api == wire.GeminiGenerate }

// text tells the APIs that send arguments as text.
func (x *exchange) text() bool { return !x.gemini() && (!x.anthropic() || x.stream) }

// begin strikes the first answer of a model that has the tools get_weather, a
// read, and book, a write whose schema allows everything.
func begin(t *testing.T, api wire.API, stream bool, spec fault.Spec, choice wire.ToolChoice, answers ...*wire.Response) *exchange {
	t.Helper()
	input := weatherInput(t)
	x := &exchange{rig: newRig(t, api, stream, []fault.Spec{spec}, answers...), ctx: virtual(t), exec: map[string]tool.Executor{}}
	for _, s := range []*tool.Spec{
		{Decl: tool.Decl{Name: "get_weather", Effect: tool.EffectRead, Input: jsontext.Value(weatherSchema)}, Input: input},
		{Decl: tool.Decl{Name: "book", Effect: tool.EffectWrite}},
	} {
		s.Exec = tool.ExecutorFunc(func(_ context.Context, c tool.Call) (tool.Result, error) {
			x.ran = append(x.ran, c)
			return tool.Result{Content: "{}"}, nil
		})
		x.exec[s.Decl.Name] = x.inj.Tool(s)
	}
	x.choice = choice
	x.choice.NoParallel = choice.NoParallel && api != wire.GeminiGenerate // which cannot say it
	x.first = x.next(t, "first")
	return x
}

// strikeRow is a fault and what it has to do on the wire.
type strikeRow struct {
	why    string
	name   string
	at     fault.Address
	params fault.Params
	choice wire.ToolChoice
	answer *wire.Response // nil: a text and a call of get_weather
	unfit  func(x *exchange) bool
	check  func(t *testing.T, x *exchange)
}

func weather() *wire.Response {
	return said("Let me look.", called("call_1", "get_weather", `{"city":"Paris","days":3}`))
}

// TestModelFaults strikes an answer of each API, streaming and not.
func TestModelFaults(t *testing.T) {
	for _, row := range slices.Concat(errorRows(), bodyRows(), outputRows()) {
		for _, api := range apis {
			for _, stream := range []bool{false, true} {
				name := row.name + "/" + row.why + "/" + string(api)
				if stream {
					name += "/stream"
				}
				t.Run(name, func(t *testing.T) { row.run(t, api, stream) })
			}
		}
	}
}

func (row *strikeRow) run(t *testing.T, api wire.API, stream bool) {
	t.Helper()
	answer := row.answer
	if answer == nil {
		answer = weather()
	}
	x := begin(t, api, stream, fault.Spec{Name: row.name, At: row.at, Params: row.params}, row.choice, answer, said("the end"))
	fired := x.inj.Fired()[0]
	f, _ := fault.Lookup(row.name)
	if row.unfit != nil && row.unfit(x) || f.Inside == fault.OnlyInside && !stream || row.at.Event > 0 && !stream {
		if fired.Times != 0 || fired.Why == "" || x.first.answer == nil || x.first.answer.Text() != answer.Text() {
			t.Errorf("%s: want the answer as it is, and a reason; fired %d times, why %q, got %+v", row.why, fired.Times, fired.Why, x.first.answer)
		}
		return
	}
	if row.check == nil {
		t.Fatalf("it struck: %+v", x.first)
	}
	row.check(t, x)
	if fired = x.inj.Fired()[0]; fired.Times == 0 {
		t.Errorf("%s: it did not strike: %s", row.why, fired.Why)
	}
	if x.inj.Seen() != f.Seen {
		t.Errorf("%s: seen by the model: %v, want %v", row.why, x.inj.Seen(), f.Seen)
	}
}

// Every entry of the catalogue is explained, and every one of the model's side has
// a row.
func TestCatalogue(t *testing.T) {
	tried := map[string]bool{"model.guessing": true} // TestGuessing
	for _, row := range slices.Concat(errorRows(), bodyRows(), outputRows()) {
		tried[row.name] = true
	}
	seen := map[string]bool{}
	for _, f := range fault.Catalogue() {
		if f.What == "" || f.Breaks == "" || f.Right == "" {
			t.Errorf("%s: it lacks an explanation", f.Name)
		}
		if seen[f.Name] {
			t.Errorf("%s: it is there twice", f.Name)
		}
		seen[f.Name] = true
		if f.Side() == fault.SideModel && !tried[f.Name] {
			t.Errorf("%s: no row tries it", f.Name)
		}
	}
	if !strings.HasPrefix(fault.Catalogue()[0].Name, "model.timeout") {
		t.Errorf("the catalogue begins with %s", fault.Catalogue()[0].Name)
	}
}

// failed checks the provider's error and that nothing was asked of the model; a
// further attempt gets the whole answer.
func failed(status int, class failure.Class) func(t *testing.T, x *exchange) {
	return func(t *testing.T, x *exchange) {
		t.Helper()
		want := status
		if status == overloadedAnywhere {
			want = http.StatusServiceUnavailable
			if x.anthropic() {
				want = 529
			}
		}
		e := x.first.answer.Err
		if x.first.status != want || e == nil || e.Class() != class || e.Type == "" || strings.HasPrefix(e.Type, "http_") || e.Message == "" {
			t.Errorf("got %d %s, want status %d with the provider's error of class %s", x.first.status, x.first.body, want, class)
		}
		if x.asked != 0 {
			t.Errorf("the model was asked: an injected error uses up no recording")
		}
		x.whole(t)
	}
}

// overloadedAnywhere is 529 at Anthropic and 503 elsewhere.
const overloadedAnywhere = -1

// whole checks that a further attempt gets the recorded answer, and gives it.
func (x *exchange) whole(t *testing.T) got {
	t.Helper()
	g := x.again(t)
	if g.err != nil || g.answer == nil || g.answer.Text() != "Let me look." || len(g.answer.Calls()) != 1 || !g.answer.Complete {
		t.Errorf("the next attempt got %+v, %v; want the recorded answer", g.answer, g.err)
	}
	if x.asked != 1 {
		t.Errorf("the model was asked %d times, want once", x.asked)
	}
	return g
}

func errorRows() []strikeRow {
	rows := []strikeRow{
		{name: "model.overloaded", why: "no room", check: failed(overloadedAnywhere, failure.Overloaded)},
		{name: "model.server_error", why: "a defect", check: failed(500, failure.ServerError)},
		{name: "model.rate_limit_bare", why: "no word on how long", check: func(t *testing.T, x *exchange) {
			t.Helper()
			failed(429, failure.RateLimited)(t, x)
			if h := x.first.header.Get("Retry-After"); h != "" {
				t.Errorf("it says %q", h)
			}
		}},
		{name: "model.rate_limit", why: "two seconds, unless it is told otherwise", check: func(t *testing.T, x *exchange) {
			t.Helper()
			failed(429, failure.RateLimited)(t, x)
			if got := wire.RetryAfter(x.first.header); got != 2*time.Second {
				t.Errorf("it asks for %v", got)
			}
		}},
		{name: "model.rate_limit", why: "as long as it is told", params: fault.Params{RetryAfter: time.Hour}, check: func(t *testing.T, x *exchange) {
			t.Helper()
			if got := x.first.header.Get("Retry-After"); got != "3600" {
				t.Errorf("it asks for %q", got)
			}
		}},
	}
	for _, c := range []struct {
		param, status int
		class         failure.Class
	}{
		{0, 400, failure.ClientError},
		{401, 401, failure.Unauthorized},
		{403, 403, failure.Unauthorized},
		{404, 404, failure.ClientError},
		{413, 413, failure.ClientError},
		{422, 422, failure.ClientError},
	} {
		rows = append(rows, strikeRow{
			name: "model.client_error", why: http.StatusText(c.status), params: fault.Params{Status: c.param}, check: failed(c.status, c.class),
		})
	}
	return rows
}

// cutOff checks that what came is a part, which ends in the error.
func cutOff(want error) func(t *testing.T, x *exchange) {
	return func(t *testing.T, x *exchange) {
		t.Helper()
		if !errors.Is(x.first.err, want) {
			t.Errorf("the body ended with %v, want %v", x.first.err, want)
		}
		if x.first.answer != nil && x.first.answer.Complete {
			t.Errorf("the part that arrived is whole: %s", x.first.body)
		}
		if x.first.body == "" {
			t.Errorf("nothing arrived")
		}
		x.whole(t)
	}
}

func unreadable(t *testing.T, x *exchange) {
	t.Helper()
	if x.first.status != http.StatusOK || failure.Of(x.first.decodErr) != failure.Protocol {
		t.Errorf("got %d %q, %v; want status 200 and an error of class protocol", x.first.status, x.first.body, x.first.decodErr)
	}
	if x.asked != 0 {
		t.Error("the model was asked")
	}
	x.whole(t)
}

func bodyRows() []strikeRow {
	middle := fault.Address{Event: 2}
	streamError := func(class failure.Class) func(t *testing.T, x *exchange) {
		return func(t *testing.T, x *exchange) {
			t.Helper()
			e := x.first.answer.Err
			if x.first.err != nil || x.first.status != http.StatusOK || e == nil || e.Class() != class {
				t.Errorf("got %d %s, %v; want an event with an error of class %s", x.first.status, x.first.body, x.first.err, class)
			}
			x.whole(t)
		}
	}
	return []strikeRow{
		{name: "model.reset", why: "before the answer", check: func(t *testing.T, x *exchange) {
			t.Helper()
			var op *net.OpError
			if !errors.Is(x.first.err, syscall.ECONNRESET) || !errors.As(x.first.err, &op) || x.asked != 0 {
				t.Errorf("got %v after %d requests to the model", x.first.err, x.asked)
			}
			x.whole(t)
		}},
		{name: "model.reset", why: "inside the stream", at: middle, check: cutOff(syscall.ECONNRESET)},
		{name: "model.short_body", why: "half", check: func(t *testing.T, x *exchange) {
			t.Helper()
			if !errors.Is(x.first.err, io.ErrUnexpectedEOF) {
				t.Errorf("the body ended with %v", x.first.err)
			}
			if whole := x.whole(t); len(x.first.body) != len(whole.body)/2 {
				t.Errorf("%d bytes came of %d", len(x.first.body), len(whole.body))
			}
		}},
		{name: "model.short_body", why: "some bytes", params: fault.Params{Bytes: 5}, check: func(t *testing.T, x *exchange) {
			t.Helper()
			cutOff(io.ErrUnexpectedEOF)(t, x)
			if len(x.first.body) != 5 {
				t.Errorf("%d bytes came", len(x.first.body))
			}
		}},
		{name: "model.short_body", why: "more than there are", params: fault.Params{Bytes: 1 << 20}, unfit: func(*exchange) bool { return true }},
		{name: "model.short_body", why: "at an event", at: middle, check: cutOff(io.ErrUnexpectedEOF)},
		{name: "model.truncated_stream", why: "a clean end", at: middle, check: func(t *testing.T, x *exchange) {
			t.Helper()
			cutOff(nil)(t, x)
			if class := wire.ClassOf(x.first.answer, x.first.decodErr); class != failure.Truncated {
				t.Errorf("class %q", class)
			}
		}},
		{name: "model.stream_error", why: "overloaded", check: streamError(failure.Overloaded)},
		{name: "model.stream_error", why: "rate limited", params: fault.Params{Kind: "rate_limit"}, check: streamError(failure.RateLimited)},
		{name: "model.stream_error", why: "a defect", params: fault.Params{Kind: "server_error"}, check: streamError(failure.ServerError)},
		{name: "model.stream_error", why: "in place of the first event", at: fault.Address{Event: 1}, check: streamError(failure.Overloaded)},
		{name: "model.stream_error", why: "beyond the end", at: fault.Address{Event: 99}, unfit: func(*exchange) bool { return true }},
		{name: "model.bad_body", why: "a page", check: func(t *testing.T, x *exchange) {
			t.Helper()
			unreadable(t, x)
			if !strings.HasPrefix(x.first.header.Get("Content-Type"), "text/html") {
				t.Errorf("its type is %q", x.first.header.Get("Content-Type"))
			}
		}},
		{name: "model.bad_body", why: "malformed JSON", params: fault.Params{Kind: "json"}, check: unreadable},
		{name: "model.bad_body", why: "nothing", params: fault.Params{Kind: "empty"}, check: unreadable},
		{name: "model.timeout", why: "no answer", check: func(t *testing.T, x *exchange) {
			t.Helper()
			var timeout net.Error
			if !errors.As(x.first.err, &timeout) || !timeout.Timeout() || failure.Of(failure.Classify(x.first.err)) != failure.Timeout {
				t.Errorf("got %v, want a net.Error that is a timeout", x.first.err)
			}
			if x.asked != 0 || clock.Now(x.ctx) != 15*time.Minute {
				t.Errorf("the model was asked %d times, at %v", x.asked, clock.Now(x.ctx))
			}
			x.whole(t)
		}},
		{name: "model.timeout", why: "a slow answer", params: fault.Params{Delay: time.Minute}, check: func(t *testing.T, x *exchange) {
			t.Helper()
			if x.first.answer == nil || x.first.answer.Text() != "Let me look." || clock.Now(x.ctx) != time.Minute {
				t.Errorf("got %+v, %v at %v", x.first.answer, x.first.err, clock.Now(x.ctx))
			}
		}},
		{name: "model.timeout", why: "a stall", at: middle, check: func(t *testing.T, x *exchange) {
			t.Helper()
			cutOff(os.ErrDeadlineExceeded)(t, x)
		}},
		{name: "model.timeout", why: "a stall that ends", at: middle, params: fault.Params{Delay: time.Minute}, check: func(t *testing.T, x *exchange) {
			t.Helper()
			if g := x.first; g.err != nil || !g.answer.Complete || g.answer.Text() != "Let me look." || clock.Now(x.ctx) != time.Minute {
				t.Errorf("got %+v, %v at %v", g.answer, g.err, clock.Now(x.ctx))
			}
			if g := x.again(t); g.answer.Text() != "the end" {
				t.Errorf("the call was answered, so the same request is another call; got %+v", g.answer)
			}
		}},
	}
}
