package cassette_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
)

const base = "https://api.anthropic.com"

func recorded(path, body, answer string) cassette.Interaction {
	return cassette.Interaction{
		Request:  cassette.Request{Method: "POST", URL: base + path, Body: []byte(body)},
		Response: cassette.Response{Code: 200, Body: []byte(answer), Header: cassette.Header{{"X-Id", answer}}},
	}
}

func fileOf(in ...cassette.Interaction) *cassette.File {
	return &cassette.File{Name: "cassettes/travel/umbrella/claude.yaml", Version: 2, Interactions: in}
}

func player(tb testing.TB, f *cassette.File, o cassette.Options) *cassette.Player {
	tb.Helper()
	p, err := cassette.NewPlayer(f, o)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func request(tb testing.TB, url, body string) *http.Request {
	tb.Helper()
	req, err := http.NewRequestWithContext(context.Background(), "POST", url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	return req
}

// ask sends a request and gives the answer's text, or "" and the error.
func ask(tb testing.TB, p http.RoundTripper, path, body string) (string, error) {
	tb.Helper()
	resp, err := p.RoundTrip(request(tb, "http://127.0.0.1:1"+path, body))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func missOf(tb testing.TB, err error) *cassette.Miss {
	tb.Helper()
	var m *cassette.Miss
	if failure.Of(err) != failure.CassetteMiss || !errors.As(err, &m) {
		tb.Fatalf("error %v of class %q, want a miss", err, failure.Of(err))
	}
	return m
}

func TestMatching(t *testing.T) {
	const path = "/v1/messages"
	rows := []struct {
		why                        string
		mode                       cassette.Mode
		recordedPath, recordedBody string
		path, body                 string
		hit                        bool
	}{
		{"the same bytes, another host", cassette.Strict, path, `{"a":1}`, path, `{"a":1}`, true},
		{"member order and white space", cassette.Strict, path, `{"a":1,"b":[2]}`, path, "{ \"b\" : [2], \"a\":1}\n", true},
		{"an array's order counts", cassette.Strict, path, `[1,2]`, path, `[2,1]`, false},
		{"a number's spelling counts", cassette.Strict, path, `{"a":1}`, path, `{"a":1.0}`, false},
		{"another path", cassette.Strict, path, `{}`, "/v1/complete", `{}`, false},
		{"the query is sorted", cassette.Strict, path + "?b=2&a=1", `{}`, path + "?a=1&b=2", `{}`, true},
		{"a query counts", cassette.Strict, path + "?beta=true", `{}`, path, `{}`, false},
		{"a key in the query does not", cassette.Strict, path + "?key=REDACTED&alt=sse", `{}`, path + "?alt=sse&key=secret", `{}`, true},
		{"a body that is no JSON, byte for byte", cassette.Strict, path, "a=1&b=2", path, "a=1&b=2", true},
		{"a body that is no JSON, changed", cassette.Strict, path, "a=1&b=2", path, "b=2&a=1", false},
		{"the order alone", cassette.Sequence, path, `{"a":1}`, "/elsewhere", `{"b":2}`, true},
		{"without a codec, normalised is strict", cassette.Normalised, "/unknown", `{"a":1,"b":2}`, "/unknown", `{"b":2,"a":1}`, true},
		{"with one, a text and a text block are the same", cassette.Normalised, path, `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`, path, `{"messages":[{"content":[{"type":"text","text":"hi"}],"role":"user"}],"max_tokens":5,"model":"m"}`, true},
		{"a changed word is not", cassette.Normalised, path, `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`, path, `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"ho"}]}`, false},
	}
	for _, r := range rows {
		p := player(t, fileOf(recorded(r.recordedPath, r.recordedBody, "yes")), cassette.Options{Match: r.mode})
		got, err := ask(t, p, r.path, r.body)
		if r.hit && (err != nil || got != "yes") {
			t.Errorf("%s: got %q, %v, want a hit", r.why, got, err)
		}
		if !r.hit {
			if err == nil {
				t.Errorf("%s: a hit, want a miss", r.why)
			} else {
				_ = missOf(t, err)
			}
		}
	}
}

// A recorder that keys by the last user text answers the second turn with the
// first answer, for ever.
func TestTheLoopIsNotCollapsed(t *testing.T) {
	one := `{"messages":[{"role":"user","content":"weather?"}]}`
	two := `{"messages":[{"role":"user","content":"weather?"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"w","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"sun"}]}]}`
	p := player(t, fileOf(recorded("/v1/messages", one, "call"), recorded("/v1/messages", two, "text")), cassette.Options{})
	for _, step := range []struct{ body, want string }{{one, "call"}, {two, "text"}} {
		if got, err := ask(t, p, "/v1/messages", step.body); err != nil || got != step.want {
			t.Fatalf("got %q, %v, want %q", got, err, step.want)
		}
	}
	_, err := ask(t, p, "/v1/messages", two)
	m := missOf(t, err)
	if m.Kind != cassette.UsedUp || m.Used != 1 || m.Nearest != 2 || !strings.Contains(err.Error(), "used 1 of 1") {
		t.Errorf("third call: %v", err)
	}
	if !strings.Contains(err.Error(), "model request #3") || !strings.Contains(err.Error(), "retake record travel/umbrella") {
		t.Errorf("the message names neither the request nor the command: %v", err)
	}
	if len(p.Misses()) != 1 {
		t.Errorf("Misses: %v, want the one", p.Misses())
	}
}

func turnWithResult(result string) string {
	return fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"book"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"book","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":%q}]}]}`, result)
}

func TestAVolatileToolResultIsNamedAndCanBeIgnored(t *testing.T) {
	f := fileOf(recorded("/v1/messages", turnWithResult(`{"tx":"a1","at":"2026-08-05T10:00:00Z","total":12}`), "ok"))
	asked := turnWithResult(`{"tx":"b7","at":"2026-09-01T08:30:00Z","total":12}`)

	_, err := ask(t, player(t, f, cassette.Options{}), "/v1/messages", asked)
	m := missOf(t, err)
	rules := []string{"/messages/*/content/*/content/at", "/messages/*/content/*/content/tx"}
	if d := cmp.Diff(rules, m.Volatile); d != "" {
		t.Errorf("likely volatile:\n%s", d)
	}
	if m.Cause != cassette.CauseHistory {
		t.Errorf("cause %q, want history", m.Cause)
	}
	for _, place := range []string{"/messages/2/content/0/content/tx", "/messages/2/content/0/content/at"} {
		if !strings.Contains(err.Error(), place) {
			t.Errorf("the message does not name %s: %v", place, err)
		}
	}

	if got, err := ask(t, player(t, f, cassette.Options{Ignore: rules}), "/v1/messages", asked); err != nil || got != "ok" {
		t.Errorf("with the suggested rules: %q, %v, want a hit", got, err)
	}
	_, err = ask(t, player(t, f, cassette.Options{Ignore: rules}), "/v1/messages", turnWithResult(`{"tx":"b7","at":"2026-09-01T08:30:00Z","total":13}`))
	if m := missOf(t, err); len(m.Differences) != 1 || m.Differences[0].Pointer != "/messages/2/content/0/content/total" || len(m.Volatile) != 0 {
		t.Errorf("a changed total: %v", err)
	}
}

// A cassette whose matching ignores the body stays green when the agent
// changes what it sends.
func TestAStaleCassetteIsAMiss(t *testing.T) {
	const was = `{"model":"m","temperature":0,"system":"be kind","tools":[{"name":"a"}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes?"}]}`
	rows := []struct {
		cause    cassette.Cause
		old, now string
		pointer  string
	}{
		{cassette.CauseParameters, `"temperature":0`, `"temperature":1`, "/temperature"},
		{cassette.CauseModel, `"model":"m"`, `"model":"n"`, "/model"},
		{cassette.CausePrompt, `be kind`, `be brief`, "/system"},
		{cassette.CausePrompt, `"hi"`, `"hello"`, "/messages/0/content"},
		{cassette.CauseTools, `"name":"a"`, `"name":"b"`, "/tools/0/name"},
		{cassette.CauseHistory, `yes?`, `no?`, "/messages/1/content"},
	}
	for _, r := range rows {
		p := player(t, fileOf(recorded("/v1/messages", was, "old")), cassette.Options{})
		_, err := ask(t, p, "/v1/messages", strings.Replace(was, r.old, r.now, 1))
		m := missOf(t, err)
		if m.Kind != cassette.NoSuchRequest || m.Cause != r.cause || len(m.Differences) != 1 || m.Differences[0].Pointer != r.pointer {
			t.Errorf("%s: %v", r.cause, err)
		}
		if len(p.Unplayed()) != 1 || !strings.Contains(p.Unplayed()[0].What, "POST /v1/messages, model m, 2 messages") {
			t.Errorf("Unplayed: %v", p.Unplayed())
		}
	}
	_, err := ask(t, player(t, fileOf(recorded("/v1/messages", was, "old")), cassette.Options{}), "/v1/complete", was)
	if m := missOf(t, err); m.Cause != cassette.CausePath {
		t.Errorf("another path: %v", err)
	}
	_, err = ask(t, player(t, fileOf(), cassette.Options{}), "/v1/messages", was)
	if m := missOf(t, err); m.Nearest != 0 {
		t.Errorf("an empty cassette: %v", err)
	}
}

func TestDeclaredHeadersCount(t *testing.T) {
	in := recorded("/x", `{}`, "a")
	in.Request.Header = cassette.Header{{"anthropic-beta", "one"}}
	for _, r := range []struct {
		value string
		cause cassette.Cause
	}{{"one", ""}, {"two", cassette.CauseHeaders}} {
		req := request(t, base+"/x", `{}`)
		req.Header.Set("Anthropic-Beta", r.value)
		resp, err := player(t, fileOf(in), cassette.Options{Headers: []string{"anthropic-beta"}}).RoundTrip(req)
		if r.cause == "" {
			if err != nil {
				t.Errorf("the same header: %v", err)
				continue
			}
			resp.Body.Close()
			continue
		}
		if m := missOf(t, err); m.Cause != r.cause {
			t.Errorf("another header: %v", err)
		}
	}
}

func TestMeaningDecidesWhereItKnowsTheRequest(t *testing.T) {
	meaning := func(dst []byte, _, _ string, body []byte) ([]byte, bool) {
		return append(dst, bytes.ToLower(body)...), bytes.HasPrefix(body, []byte(`"`))
	}
	f := fileOf(recorded("/x", `"Hi"`, "1"), recorded("/x", `"hi"`, "2"), recorded("/x", `"HI"`, "3"))
	p := player(t, f, cassette.Options{Meaning: meaning})
	for _, step := range []struct{ why, body, want string }{
		{"the first of the same meaning", `"hi"`, "1"},
		{"then the second, whose bytes these are", `"hi"`, "2"},
		{"and the next", `"hi"`, "3"},
	} {
		if got, err := ask(t, p, "/x", step.body); err != nil || got != step.want {
			t.Errorf("%s: %q, %v, want %q", step.why, got, err, step.want)
		}
	}
	_, err := ask(t, p, "/x", `"hI"`)
	if m := missOf(t, err); m.Kind != cassette.UsedUp || m.Used != 3 {
		t.Errorf("all used: %v", err)
	}
}

func TestAnswersShareNothing(t *testing.T) {
	in := recorded("/x", `{}`, "answer")
	p := player(t, fileOf(in, in), cassette.Options{})
	for range 2 {
		resp, err := p.RoundTrip(request(t, base+"/x", `{}`))
		if err != nil {
			t.Fatal(err)
		}
		if resp.Header.Get("X-Id") != "answer" || resp.Status != "200 OK" || resp.ContentLength != 6 || resp.Request == nil {
			t.Errorf("answer: %+v", resp)
		}
		resp.Header.Set("X-Id", "changed")
		resp.Header["X-Id"][0] = "changed"
		if _, ok := resp.Body.(io.WriterTo); ok {
			t.Error("the body hands its memory to a writer")
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || string(text) != "answer" {
			t.Errorf("body %q, %v", text, err)
		}
		copy(text, "xxxxxx")
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if _, err := resp.Body.Read(text); err == nil {
			t.Error("a closed body can be read")
		}
	}
}

func TestTransportErrorsAreReal(t *testing.T) {
	rows := []struct {
		kind cassette.TransportKind
		code int
		is   error
		kept string
	}{
		{cassette.TransportReset, 0, syscall.ECONNRESET, ""},
		{cassette.TransportRefused, 0, syscall.ECONNREFUSED, ""},
		{cassette.TransportTimeout, 0, context.DeadlineExceeded, ""},
		{cassette.TransportCut, 200, io.ErrUnexpectedEOF, "half"},
		{cassette.TransportReset, 200, syscall.ECONNRESET, "half"},
	}
	for _, r := range rows {
		in := recorded("/x", `{}`, r.kept)
		in.Response.Code = r.code
		in.Notes = &cassette.Notes{Transport: &cassette.TransportError{Kind: r.kind}}
		client := &http.Client{Transport: player(t, fileOf(in), cassette.Options{})}
		var text []byte
		resp, err := client.Do(request(t, base+"/x", `{}`))
		if err == nil {
			text, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, r.is) || string(text) != r.kept {
			t.Errorf("%s with status %d: %q, %v, want %q and %v", r.kind, r.code, text, err, r.kept, r.is)
		}
		var timeout interface{ Timeout() bool }
		if r.kind == cassette.TransportTimeout && (!errors.As(err, &timeout) || !timeout.Timeout()) {
			t.Errorf("a timeout does not say so: %v", err)
		}
	}
}

func TestLatencyAndPaceGoThroughWait(t *testing.T) {
	in := recorded("/x", `{}`, "abcdef")
	in.Response.Duration = 100 * time.Millisecond
	in.Notes = &cassette.Notes{Chunks: []cassette.Chunk{{Bytes: 2, Micros: 10_000}, {Bytes: 6, Micros: 70_000}}}
	var waits []time.Duration
	var seen []cassette.Played
	p := player(t, fileOf(in), cassette.Options{
		Wait:    func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
		Observe: func(p cassette.Played) { seen = append(seen, p) },
	})
	resp, err := p.RoundTrip(request(t, base+"/x", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10)
	if n, err := resp.Body.Read(buf); n != 2 || err != nil {
		t.Errorf("first read: %d, %v, want the 2 bytes that have arrived", n, err)
	}
	if rest, err := io.ReadAll(resp.Body); string(rest) != "cdef" || err != nil {
		t.Errorf("rest: %q, %v", rest, err)
	}
	resp.Body.Close()
	if d := cmp.Diff([]time.Duration{10 * time.Millisecond, 60 * time.Millisecond, 30 * time.Millisecond}, waits); d != "" {
		t.Errorf("waits:\n%s", d)
	}
	if d := cmp.Diff([]cassette.Played{{Ordinal: 1, Recording: 1, Duration: 100 * time.Millisecond}}, seen); d != "" {
		t.Errorf("observed:\n%s", d)
	}
}

func TestACancelledRequestUsesUpNothing(t *testing.T) {
	p := player(t, fileOf(recorded("/x", `{}`, "a")), cassette.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.RoundTrip(request(t, base+"/x", `{}`).WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("RoundTrip: %v", err)
	}
	if len(p.Unplayed()) != 1 {
		t.Error("the recording is gone")
	}
}

func TestWrongOptions(t *testing.T) {
	for _, o := range []cassette.Options{{Match: "fuzzy"}, {Ignore: []string{"messages"}}} {
		if _, err := cassette.NewPlayer(fileOf(), o); failure.Of(err) != failure.ScenarioInvalid {
			t.Errorf("NewPlayer(%+v): %v, want class scenario_invalid", o, err)
		}
	}
}

// Whatever the order, each question gets its own answers in recorded order, and
// everything is played in the end.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "n")
		var f cassette.File
		var asks []int
		want := map[int][]string{}
		for i := range n {
			q := rapid.IntRange(0, 4).Draw(rt, "question")
			asks = append(asks, q)
			answer := fmt.Sprintf("%d-%d", q, i)
			want[q] = append(want[q], answer)
			f.Interactions = append(f.Interactions, recorded("/x", fmt.Sprintf(`{"a":1,"q":%d}`, q), answer))
		}
		p := player(t, &f, cassette.Options{Match: cassette.Strict})
		spelling := rapid.SampledFrom([]string{`{"a":1,"q":%d}`, `{"q":%d,"a":1}`}).Draw(rt, "spelling")
		got := map[int][]string{}
		for _, q := range rapid.Permutation(asks).Draw(rt, "order") {
			a, err := ask(t, p, "/x", fmt.Sprintf(spelling, q))
			if err != nil {
				rt.Fatalf("%v", err)
			}
			got[q] = append(got[q], a)
		}
		if d := cmp.Diff(want, got); d != "" || len(p.Unplayed()) > 0 {
			rt.Fatalf("%s\nunplayed: %v", d, p.Unplayed())
		}
	})
}

func TestManyGoroutinesShareAPlayer(t *testing.T) {
	const each, workers = 50, 8
	var f cassette.File
	for i := range each * workers {
		f.Interactions = append(f.Interactions, recorded("/x", fmt.Sprintf(`{"a":%d,"b":1}`, i%10), fmt.Sprint(i)))
	}
	p := player(t, &f, cassette.Options{})
	seen := make(chan string, each*workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				body := fmt.Sprintf(`{"a":%d,"b":1}`, (w+i)%10)
				if i%2 == 1 {
					body = fmt.Sprintf(`{"b":1,"a":%d}`, (w+i)%10)
				}
				a, err := ask(t, p, "/x", body)
				if err != nil {
					t.Error(err)
				}
				seen <- a
			}
		})
	}
	wg.Wait()
	close(seen)
	once := map[string]bool{}
	for a := range seen {
		if once[a] {
			t.Errorf("recording %s was given twice", a)
		}
		once[a] = true
	}
	if len(p.Unplayed()) > 0 {
		t.Errorf("unplayed: %d", len(p.Unplayed()))
	}
}

// A client that spells the history in another way changes nothing by that; the
// miss tells only what was changed in meaning.
func TestAMissHidesSpellings(t *testing.T) {
	was := `{"model":"m","max_tokens":5,"temperature":0,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes?"},{"role":"user","content":"book"}]}`
	now := `{"model":"m","max_tokens":5,"temperature":1,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":"yes?"},{"role":"user","content":[{"type":"text","text":"book"}]}]}`
	_, err := ask(t, player(t, fileOf(recorded("/v1/messages", was, "old")), cassette.Options{}), "/v1/messages", now)
	if m := missOf(t, err); m.Cause != cassette.CauseParameters || len(m.Differences) != 1 || m.Differences[0].Pointer != "/temperature" {
		t.Errorf("%v", err)
	}
}

func TestAnotherModelInThePathIsTheModel(t *testing.T) {
	const body = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	p := player(t, fileOf(recorded("/v1beta/models/gemini-a:generateContent", body, "old")), cassette.Options{})
	_, err := ask(t, p, "/v1beta/models/gemini-b:generateContent", body)
	if m := missOf(t, err); m.Cause != cassette.CauseModel {
		t.Errorf("%v", err)
	}
}

// Recordings of one request are given in the order of the file, whichever of
// their spellings the request has.
func TestASpellingOvertakesNothing(t *testing.T) {
	const path = "/v1/messages"
	a := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go on"}]}`
	b := `{"max_tokens":9,"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"go on"}]}]}`
	other := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`
	rows := []struct {
		why   string
		asked []string
		want  string
	}{
		{"as recorded", []string{other, a, b, a}, "0 1 2 3"},
		{"the later spelling first, at the beginning", []string{b, a, other, a}, "1 2 0 3"},
		{"after another request", []string{other, b, b, b}, "0 1 2 3"},
		{"the earlier spelling only", []string{a, a, a, other}, "1 2 3 0"},
		{"an earlier recording stays free", []string{b, other, b, a}, "1 0 2 3"},
	}
	for _, r := range rows {
		p := player(t, fileOf(recorded(path, other, "0"), recorded(path, a, "1"), recorded(path, b, "2"), recorded(path, a, "3")), cassette.Options{})
		var got []string
		for _, body := range r.asked {
			answer, err := ask(t, p, path, body)
			if err != nil {
				t.Fatalf("%s: %v", r.why, err)
			}
			got = append(got, answer)
		}
		if d := cmp.Diff(r.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s (-want +got):\n%s", r.why, d)
		}
	}
}
