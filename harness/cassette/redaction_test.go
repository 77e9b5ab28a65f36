package cassette_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	recordings "github.com/retake-harness/retake/harness/internal/corpus"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/tool"
)

// once is a recorder of one answer, and its file.
func recordOnce(t *testing.T, o cassette.Recording, req *http.Request, answer *http.Response) (in cassette.Interaction, f *cassette.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.yaml")
	o.Next = api(func(*http.Request) (*http.Response, error) { return answer, nil })
	r := record(t, path, o)
	if _, err := exchanged(r, req); err != nil {
		t.Fatal(err)
	}
	finish(t, r)
	f = open(t, path)
	return f.Interactions[0], f
}

func TestHeadersAndAddressesAreRedacted(t *testing.T) {
	req := sent(t, "/v1beta/models/g:generateContent?alt=sse&key=AIzaLive&x=1", `{}`,
		"Authorization", "Bearer live", "X-Api-Key", "live", "X-Goog-Api-Key", "live", "Cookie", "live", "Openai-Organization", "org-live", "X-Whatever", "live",
		"User-Agent", "Anthropic/Go 2.15.0", "Anthropic-Version", "2023-06-01", "X-Stainless-Lang", "go", "X-Trace", "counts")
	req.URL.User = url.UserPassword("me", "live")
	answer := answerOf(strings.NewReader("{}"), "Content-Type", "application/json", "Set-Cookie", "live", "Request-Id", "req_1", "Anthropic-Ratelimit-Tokens-Limit", "5",
		"Retry-After-Ms", "12", "Cf-Ray", "x", "Anthropic-Organization-Id", "live", "Location", "https://me:live@api.example.com/x?access_token=live&a=b", "X-Request-Id", "req_2")
	before := req.Header.Clone()
	in, f := recordOnce(t, cassette.Recording{
		Redact: cassette.Redaction{Headers: []string{"x-request-id"}},
		Replay: cassette.Options{Headers: []string{"x-trace", "authorization"}},
	}, req, answer)
	want := cassette.Header{
		{Name: "Anthropic-Version", Value: "2023-06-01"},
		{Name: "Content-Type", Value: "application/json"},
		{Name: "User-Agent", Value: "Anthropic/Go 2.15.0"},
		{Name: "X-Stainless-Lang", Value: "go"},
		{Name: "X-Trace", Value: "counts"},
	}
	if d := cmp.Diff(want, in.Request.Header); d != "" {
		t.Errorf("of the request:\n%s", d)
	}
	want = cassette.Header{
		{Name: "Anthropic-Ratelimit-Tokens-Limit", Value: "5"},
		{Name: "Content-Type", Value: "application/json"},
		{Name: "Location", Value: "https://api.example.com/x?a=b"},
		{Name: "Request-Id", Value: "req_1"},
		{Name: "Retry-After-Ms", Value: "12"},
	}
	if d := cmp.Diff(want, in.Response.Header); d != "" {
		t.Errorf("of the answer:\n%s", d)
	}
	if in.Request.URL != "https://api.example.com/v1beta/models/g:generateContent?alt=sse&x=1" || strings.Contains(strings.ToLower(string(encoded(t, f))), "live") {
		t.Errorf("URL %s; the file:\n%s", in.Request.URL, encoded(t, f))
	}
	if d := cmp.Diff(before, req.Header); d != "" || answer.Header.Get("Set-Cookie") != "live" || req.URL.User == nil {
		t.Errorf("what is live was changed:\n%s", d)
	}
	if f.Notes.SDK != "Anthropic/Go 2.15.0" || f.Notes.Source != cassette.Recorded || f.Notes.RecordedAt == "" {
		t.Errorf("notes: %+v", f.Notes)
	}
	// Without any key it finds its recording, in a mode in which headers count.
	again := sent(t, "/v1beta/models/g:generateContent?alt=sse&x=1", `{}`, "X-Trace", "counts", "Authorization", "Bearer other")
	if _, err := exchanged(player(t, f, cassette.Options{Headers: []string{"x-trace", "authorization"}, Redact: cassette.Redaction{Headers: []string{"x-request-id"}}}), again); err != nil {
		t.Error(err)
	}
}

func encoded(t *testing.T, f *cassette.File) []byte {
	t.Helper()
	data, err := cassette.Encode(nil, f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestPointersAreRedacted(t *testing.T) {
	rules := cassette.Redaction{JSON: []string{"/user/email", "/list/*/n", "/delta/text", "/args/email", "/on", "/obj", "/arr"}}
	rows := []struct{ why, kind, body, want string }{
		{"a text", "application/json", `{"user": {"email": "bob@x.org", "name": "Bob"}}`, `{"user":{"email":"[redacted]","name":"Bob"}}`},
		{"each element", "application/json", `{"list":[{"n":1},{"n":2.5,"m":3}]}`, `{"list":[{"n":0},{"n":0,"m":3}]}`},
		{"the kind stays", "application/json", `{"on":true,"obj":{"a":1},"arr":[1]}`, `{"on":false,"obj":{},"arr":[]}`},
		{"nothing to find leaves every byte", "application/json", `{ "b" : 1,  "a":[ ] }`, `{ "b" : 1,  "a":[ ] }`},
		{"inside of a text that is a document", "application/json", `{"args":"{\"email\":\"bob\",\"q\":1}"}`, `{"args":"{\"email\":\"[redacted]\",\"q\":1}"}`},
		{"inside of one that is torn", "application/json", `{"args":"{\"q\":1,\"email\":\"bo"}`, `{"args":"{\"q\":1,\"email\":\"[redacted]\""}`},
		{"torn behind a named value", "application/json", `{"user":{"email":"bo`, `{"user":{"email":"[redacted]"`},
		{"no JSON is not looked into", "text/html", `[see] <html>/user/email</html>`, `[see] <html>/user/email</html>`},
		{"each event", "text/event-stream", "event: a\ndata: {\"delta\":{\"text\":\"bob\"}}\n\n: ping\n\ndata: {\"x\":1}\n\ndata: [DONE]\n\n", "event: a\ndata: {\"delta\":{\"text\":\"[redacted]\"}}\n\n: ping\n\ndata: {\"x\":1}\n\ndata: [DONE]\n\n"},
		{"an event of several lines", "text/event-stream", "data: {\"delta\":\ndata: {\"text\":\"bob\"}}\nid: 7\n\n", "data: {\"delta\":{\"text\":\"[redacted]\"}}\nid: 7\n\n"},
		{"an event that was cut off", "text/event-stream", "data: {\"x\":1}\n\ndata: {\"delta\":{\"text\":\"bo", "data: {\"x\":1}\n\ndata: {\"delta\":{\"text\":\"[redacted]\""},
	}
	for _, row := range rows {
		in, f := recordOnce(t, cassette.Recording{Redact: rules}, sent(t, "/x", row.body, "Content-Length", "99"), answerOf(strings.NewReader(row.body), "Content-Type", row.kind))
		if got := string(in.Response.Body); got != row.want {
			t.Errorf("%s: the answer is\n%s\nwant\n%s", row.why, got, row.want)
		}
		if got := string(in.Request.Body); got != row.want || in.Request.ContentLength != int64(len(got)) {
			t.Errorf("%s: the request is\n%s (%d)\nwant\n%s", row.why, got, in.Request.ContentLength, row.want)
		}
		// What is live finds what was redacted.
		if _, err := exchanged(player(t, f, cassette.Options{Redact: rules}), sent(t, "/x", row.body)); err != nil {
			t.Errorf("%s: %v", row.why, err)
		}
	}
}

func TestThePaceSurvivesRedaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	const one, two, three = "data: {\"delta\":{\"text\":\"a secret of some length\"}}\n\n", "data: {\"x\":1}\n\n", "data: {\"delta\":{\"text\":\"b\"}}\n\n"
	r := record(t, path, cassette.Recording{Redact: cassette.Redaction{JSON: []string{"/delta/text"}}, Next: api(func(req *http.Request) (*http.Response, error) {
		return answerOf(&slow{ctx: req.Context(), pieces: []piece{{2e6, one[:len(one)-3]}, {4e6, one[len(one)-3:]}, {6e6, two}, {10e6, three}}}, "Content-Type", "text/event-stream"), nil
	})})
	if _, err := exchanged(r, sent(t, "/x", `{}`)); err != nil {
		t.Fatal(err)
	}
	finish(t, r)
	in := open(t, path).Interactions[0]
	body := string(in.Response.Body)
	var got []string
	from := 0
	for _, c := range in.Notes.Chunks {
		got, from = append(got, body[from:c.Bytes]), c.Bytes
	}
	// A chunk that ends inside of an event that has become shorter ends with it.
	if d := cmp.Diff([]string{"data: {\"delta\":{\"text\":\"[redacted]\"}}\n\n", "", two, "data: {\"delta\":{\"text\":\"[redacted]\"}}\n\n"}, got); d != "" {
		t.Errorf("the chunks are:\n%s", d)
	}
}

const canary = `c4n4ry/"key"+42&more`

func secretValues() *redact.Values {
	return redact.New(redact.Secret{Name: "LIVE_KEY", Value: canary})
}

func TestASecretIsRefusedAndNamed(t *testing.T) {
	quoted := `c4n4ry/\"key\"+42&more`
	rows := []struct {
		why   string
		req   func(*http.Request)
		asked string
		kind  string
		body  string
		says  string
	}{
		{why: "in a header that is kept", req: func(r *http.Request) { r.Header.Set("User-Agent", "me "+canary) }, says: `the request's header "User-Agent"`},
		{why: "in the path", req: func(r *http.Request) { r.URL = r.URL.JoinPath(url.PathEscape(canary)) }, says: "the URL of the request"},
		{why: "in the query", req: func(r *http.Request) { r.URL.RawQuery = "q=" + url.QueryEscape(canary) }, says: "the URL of the request"},
		{why: "in the request", asked: `{"messages":[{"content":"use ` + quoted + `"}]}`, says: `the request's body at "/messages/0/content"`},
		{why: "in a document in a text", asked: `{"arguments":"{\"k\":\"c4n4ry/\\\"key\\\"+42&more\"}"}`, says: `the request's body at "/arguments"`},
		{why: "with other escapes", asked: `{"a":"\u00634n4ry\/\u0022key\u0022+42\u0026more"}`, says: `the request's body at "/a"`},
		{why: "in base64", asked: `{"a":"` + base64.StdEncoding.EncodeToString([]byte("Basic x:"+canary)) + `"}`, says: `the request's body at "/a"`},
		{why: "as a name, which is not told", asked: `{"` + quoted + `":1}`, says: `the request's body, a name at "",`},
		{why: "in the answer", body: `{"content":[{"text":"` + quoted + `"}]}`, says: `the answer's body at "/content/0/text"`},
		{why: "in an answer that is no JSON", kind: "text/html", body: "<p>" + canary, says: "the answer's body, at byte 3,"},
		{why: "in pieces of a stream", kind: "text/event-stream", body: "data: {\"d\":{\"t\":\"c4n4ry/\"}}\n\ndata: {\"d\":{\"t\":\"\\\"key\\\"+42&more\"}}\n\n", says: `the answer's body, the text of the events at "/d/t" put together,`},
		{why: "escaped by number, in prose", body: `{"content":[{"text":"it logged {\"k\": \"c4n4ry/\\u0022key\\u0022\\u002B42&more\"} then"}]}`, says: `the answer's body at "/content/0/text"`},
		{why: "escaped by number, in lines of JSON", asked: `{"a":"{}\n{\"k\":\"c4n4ry/\\u0022key\\u0022\\u002b42&more\"}\n"}`, says: `the request's body at "/a"`},
		{why: "escaped by number, in pieces of arguments", kind: "text/event-stream", body: `data: {"index":1,"delta":{"partial_json":"{\"k\":\"c4n4ry/\\u0022key\\u00"}}` + "\n\n" + `data: {"index":1,"delta":{"partial_json":"22\\u002B42&more\"}"}}` + "\n\n", says: `the answer's body, the text of the events at "/delta/partial_json" put together,`},
		{why: "in pieces of two choices that come in turns", kind: "text/event-stream", body: `data: {"choices":[{"index":0,"text":"c4n4ry/\"k"}]}` + "\n\n" + `data: {"choices":[{"index":1,"text":"another"}]}` + "\n\n" + `data: {"choices":[{"index":0,"text":"ey\"+42&more"}]}` + "\n\n", says: `the answer's body, the text of the events at "/choices/0/text" put together,`},
		{why: "in one event", kind: "text/event-stream", body: "data: {}\n\ndata: {\"t\":\"" + quoted + "\"}\n\n", says: `the answer's body, event 2 at "/t"`},
	}
	for _, row := range rows {
		path := filepath.Join(t.TempDir(), "m.yaml")
		answer := answerOf(strings.NewReader(row.body), "Content-Type", row.kind)
		first := true
		r := record(t, path, cassette.Recording{Secrets: secretValues(), Next: api(func(*http.Request) (*http.Response, error) {
			if !first {
				return answerOf(strings.NewReader("{}")), nil
			}
			first = false
			return answer, nil
		})})
		req := sent(t, "/x", row.asked)
		if row.req != nil {
			row.req(req)
		}
		if text, err := exchanged(r, req); err != nil || text != row.body {
			t.Errorf("%s: the client got %q, %v", row.why, text, err)
		}
		if _, err := exchanged(r, sent(t, "/fine", `{}`)); err != nil {
			t.Fatal(err)
		}
		err := r.Finish()
		if failure.Of(err) != failure.World || !strings.Contains(err.Error(), "exchange 1: "+row.says+" has the value of the secret LIVE_KEY") {
			t.Errorf("%s: Finish: %v\nwant %s", row.why, err, row.says)
			continue
		}
		if _, found := secretValues().Found([]byte(err.Error())); found {
			t.Errorf("%s: the message tells it: %v", row.why, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(cassette.PartialPath(path))
		if numbers, _, _ := cassette.PartialOf(data); err != nil || len(numbers) != 1 || numbers[0] != 2 {
			t.Errorf("%s: kept are %v, %v", row.why, numbers, err)
		}
		noSecretIn(t, filepath.Dir(path), secretValues())
	}
}

// noSecretIn looks into every file of a folder.
func noSecretIn(t interface {
	Helper()
	Fatalf(string, ...any)
}, dir string, v *redact.Values,
) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatalf("%v", err)
		}
		if name, at, found := v.Where(data); found {
			t.Fatalf("%s has the secret %s at byte %d", f.Name(), name, at)
		}
	}
}

func TestWhatBecomesKnownAsASecretIsNotTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	interrupted(t, path, "/a", "/b-"+url.PathEscape(canary))
	live := &echo{}
	r := record(t, path, cassette.Recording{Next: live, Notes: alike, Secrets: secretValues()})
	if text, err := exchanged(r, sent(t, "/a", `{}`)); err != nil || text != "answer 1" {
		t.Errorf("%q, %v", text, err)
	}
	if w := strings.Join(r.Warnings(), "\n"); !strings.Contains(w, "exchange 2 is not used: the URL of the request has the value of the secret LIVE_KEY") {
		t.Errorf("warnings: %s", w)
	}
}

func TestARuleThatIsNewHoldsForWhatWasKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	r := record(t, path, cassette.Recording{Notes: alike, Next: api(func(*http.Request) (*http.Response, error) {
		return answerOf(strings.NewReader(`{"email":"bob@x.org"}`), "Content-Type", "application/json", "X-Request-Id", "r1"), nil
	})})
	if _, err := exchanged(r, sent(t, "/a", `{"email":"eve@x.org"}`)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = record(t, path, cassette.Recording{Notes: alike, Next: &echo{}, Redact: cassette.Redaction{JSON: []string{"/email"}, Headers: []string{"X-Request-Id"}}})
	if text, err := exchanged(r, sent(t, "/a", `{"email":"eve@x.org"}`)); err != nil || text != `{"email":"[redacted]"}` {
		t.Errorf("%q, %v", text, err)
	}
	finish(t, r)
	data, err := os.ReadFile(path)
	if err != nil || regexp.MustCompile(`x\.org|r1`).Match(data) {
		t.Errorf("%v:\n%s", err, data)
	}
}

func TestToolsAreRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tools.yaml")
	runs := 0
	next := tool.ExecutorFunc(func(_ context.Context, c tool.Call) (tool.Result, error) {
		runs++
		switch c.Tool {
		case "broken":
			return tool.Result{}, io.ErrClosedPipe
		case "denied":
			return tool.Result{Err: &tool.Error{Code: "NOPE", Message: "no", Class: failure.ToolFailed}}, nil
		}
		return tool.Result{Content: `{"order":` + string(c.Args) + `}`}, nil
	})
	o := cassette.ToolRecording{
		Next: next, Notes: alike, Redact: cassette.Redaction{JSON: []string{"/email", "/order/email"}}, Secrets: secretValues(),
		Replay: cassette.ToolOptions{LeaveOut: map[string][]string{"order": {"key"}}},
	}
	calls := []tool.Call{
		{Tool: "order", Args: []byte(`{"sku":"A","email":"bob@x.org","key":"host-1"}`)},
		{Tool: "denied", Args: []byte(`{}`)},
		{Tool: "broken", Args: []byte(`{}`)},
	}
	play := func(e tool.Executor, key string) (out []string) {
		for _, c := range calls {
			c.Args = []byte(strings.Replace(string(c.Args), "host-1", key, 1))
			r, err := e.Execute(t.Context(), c)
			switch {
			case err != nil:
				out = append(out, "failed")
			case r.Err != nil:
				out = append(out, r.Err.Error())
			default:
				out = append(out, r.Content)
			}
		}
		return out
	}
	r, err := cassette.RecordTools(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{`{"order":{"sku":"A","email":"bob@x.org","key":"host-1"}}`, "NOPE: no", "failed"}, play(r, "host-1")); d != "" || r.Recorded() != 2 {
		t.Errorf("recorded %d:\n%s", r.Recorded(), d)
	}
	if err := r.Close(); err != nil { // interrupted
		t.Fatal(err)
	}
	if r, err = cassette.RecordTools(path, o); err != nil {
		t.Fatal(err)
	}
	want := []string{`{"order":{"email":"[redacted]","key":"host-1","sku":"A"}}`, "NOPE: no", "failed"}
	want[0] = `{"order":{"sku":"A","email":"[redacted]","key":"host-1"}}`
	if d := cmp.Diff(want, play(r, "host-2")); d != "" || r.Kept() != 2 || r.Recorded() != 0 || runs != 4 {
		t.Errorf("kept %d, recorded %d, run %d times:\n%s", r.Kept(), r.Recorded(), runs, d)
	}
	finish(t, r)
	p, err := cassette.NewToolPlayer(open(t, path), cassette.ToolOptions{Redact: o.Redact, LeaveOut: o.Replay.LeaveOut})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, play(p, "host-3")); d != "" {
		t.Errorf("replayed:\n%s", d)
	}
	// A secret in a result.
	o.Next = tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: "x " + canary}, nil })
	if r, err = cassette.RecordTools(path, o); err != nil {
		t.Fatal(err)
	}
	if out, err := r.Execute(t.Context(), calls[0]); err != nil || out.Content != "x "+canary {
		t.Errorf("the caller got %v, %v", out, err)
	}
	if err := r.Finish(); failure.Of(err) != failure.World || !strings.Contains(err.Error(), "the answer's body, at byte 2, has the value of the secret LIVE_KEY") {
		t.Errorf("Finish: %v", err)
	}
	noSecretIn(t, filepath.Dir(path), secretValues())
}

// TestIDsSurvive: what looks like a secret and is an id of a call, an answer or a
// request stays byte for byte, over all ids that real recordings have.
func TestIDsSurvive(t *testing.T) {
	all := recordings.Open(t, os.Getenv)
	ids := regexp.MustCompile(`"(?:id|tool_use_id|call_id|tool_call_id|item_id|response_id|request_id|responseId|signature|thoughtSignature)"\s*:\s*"([^"\\]+)"`)
	seen := 0
	for i := range all.Files {
		f := &all.Files[i]
		data, err := os.ReadFile(all.Join(f))
		if err != nil {
			t.Fatal(err)
		}
		var body strings.Builder
		body.WriteString(`{"ids":[""`)
		n := 0
		for _, m := range ids.FindAllStringSubmatch(string(data), -1) {
			body.WriteString(`,"` + m[1] + `"`)
			n++
		}
		body.WriteString(`]}`)
		if n == 0 {
			continue
		}
		seen += n
		in, _ := recordOnce(t, cassette.Recording{Secrets: secretValues(), Redact: cassette.Redaction{JSON: []string{"/user/email"}}},
			sent(t, "/x", body.String()), answerOf(strings.NewReader(body.String()), "Request-Id", "req_011CSHoEeqs5C35K2UUqR7Fy"))
		if string(in.Request.Body) != body.String() || string(in.Response.Body) != body.String() || in.Response.Header.Get("Request-Id") != "req_011CSHoEeqs5C35K2UUqR7Fy" {
			t.Errorf("%s: ids have changed", f.Path)
		}
	}
	if seen < 500 {
		t.Errorf("only %d ids were looked at", seen)
	}
	t.Logf("%d ids", seen)
}
