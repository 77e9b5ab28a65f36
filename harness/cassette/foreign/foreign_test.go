package foreign_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/cassette/foreign"
	"github.com/retake-harness/retake/harness/failure"
)

const (
	asked    = `{"model":"m-1","max_tokens":9,"messages":[{"role":"user","content":"Hi."}]}`
	answered = `{"id":"1","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"Hello!"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}`
	address  = "https://api.anthropic.com/v1/messages"
	stream   = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m-1\",\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n"
)

func zipped(tb testing.TB, text string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// httprr is a trace of one exchange.
func httprr(request, response string) string {
	request, response = strings.ReplaceAll(request, "\n", "\r\n"), strings.ReplaceAll(response, "\n", "\r\n")
	return fmt.Sprintf("httprr trace v1\n%d %d\n%s%s", len(request), len(response), request, response)
}

// samples are one small file for each form, all of the same exchange.
func samples(tb testing.TB) []struct {
	why    string
	format foreign.Format
	text   string
} {
	tb.Helper()
	packed := b64(zipped(tb, answered))
	half := len(packed) / 8 * 4
	return []struct {
		why    string
		format foreign.Format
		text   string
	}{
		{"VCR.py with requests: a body is a text named string", foreign.VCRpy, `interactions:
- request:
    body: '` + asked + `'
    headers: {Content-Type: [application/json]}
    method: POST
    uri: ` + address + `
  response:
    body: {string: '` + answered + `'}
    headers: {Content-Type: [application/json]}
    status: {code: 200, message: OK}
version: 1
`},
		{"VCR.py with a binary body and another with gzip", foreign.VCRpy, `interactions:
- request:
    body: !!binary |
      ` + b64([]byte(asked)) + `
    headers: {content-type: application/json}
    method: post
    uri: ` + address + `
  response:
    body: {string: !!binary ` + packed + `}
    headers: {Content-Encoding: [gzip], Content-Length: ['99'], content-type: [application/json]}
    status: {code: 200, message: OK}
version: 1
`},
		{"VCR.py with a Python object for a body", foreign.VCRpy, `interactions:
- request:
    body: !!python/object/new:_io.BytesIO
      state: !!python/tuple [!!binary ` + b64([]byte(asked)) + `, 0, null]
    headers: {Content-Type: [!!python/unicode application/json]}
    method: POST
    uri: !!python/unicode ` + address + `
  response:
    body: {string: !!python/unicode '` + answered + `'}
    headers: {Content-Type: [application/json]}
    status: {code: 200, message: OK}
version: 1
`},
		{"VCR.py with an old httpx", foreign.VCRpy, `interactions:
- request: {body: '` + asked + `', headers: {Content-Type: [application/json]}, method: POST, uri: '` + address + `'}
  response: {content: '` + answered + `', headers: {Content-Type: [application/json]}, http_version: HTTP/1.1, status_code: 200}
version: 1
`},
		{"VCR.py with bodies as YAML", foreign.VCRpy, `interactions:
- request:
    headers: {Content-Type: [application/json]}
    method: POST
    parsed_body: {model: m-1, max_tokens: 9, messages: [{role: user, content: Hi.}]}
    uri: ` + address + `
  response:
    headers: {Content-Type: [application/json]}
    parsed_body:
      id: '1'
      type: message
      role: assistant
      model: m-1
      content: [{type: text, text: Hello!}]
      stop_reason: end_turn
      usage: {input_tokens: 3, output_tokens: 2}
    status: {code: 200, message: OK}
version: 1
`},
		{"VCR.py as JSON", foreign.VCRpy, `{"version":1,"interactions":[{"request":{"method":"POST","uri":"` + address + `","body":` + quote(asked) + `,"headers":{"Content-Type":["application/json"]}},"response":{"status":{"code":200,"message":"OK"},"headers":{"Content-Type":["application/json"]},"body":{"string":` + quote(answered) + `}}}]}`},
		{"VCR.py in two lists, packed", foreign.VCRpy, string(zipped(tb, `requests:
- {body: '`+asked+`', headers: {Content-Type: [application/json]}, method: POST, uri: '`+address+`'}
responses:
- {body: {string: '`+answered+`'}, headers: {Content-Type: [application/json]}, status: {code: 200, message: OK}}
`))},
		{"Ruby's VCR", foreign.RubyVCR, `---
http_interactions:
- request:
    method: post
    uri: ` + address + `
    body: {encoding: UTF-8, string: '` + asked + `'}
    headers: {Content-Type: [application/json]}
  response:
    status: {code: 200, message: OK}
    headers: {Content-Type: [application/json]}
    body: {encoding: ASCII-8BIT, string: !binary ` + b64([]byte(answered)) + `}
  recorded_at: Fri, 24 Oct 2025 17:54:02 GMT
recorded_with: VCR 6.3.1
`},
		{"Ruby's VCR with base64", foreign.RubyVCR, `---
http_interactions:
- request:
    method: post
    uri: ` + address + `
    body: {encoding: UTF-8, base64_string: ` + b64([]byte(asked)) + `}
    headers: {Content-Type: [application/json]}
  response:
    status: {code: 200, message: OK}
    headers: {Content-Type: [application/json]}
    body: {encoding: UTF-8, base64_string: ` + b64([]byte(answered)) + `}
`},
		{"httprr", foreign.HTTPRR, httprr("POST "+address+" HTTP/1.1\nHost: api.anthropic.com\nContent-Type: application/json\n\n"+asked, "HTTP/2.0 200 OK\nContent-Type: application/json\n\n"+answered)},
		{"httprr with a body in chunks", foreign.HTTPRR, httprr("POST "+address+" HTTP/1.1\nHost: api.anthropic.com\nContent-Type: application/json\n\n"+asked, fmt.Sprintf("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nContent-Type: application/json\n\n%x\n%s\n0\n\n", len(answered), answered))},
		{"a browser's HAR, whose header speaks of an encoding that was undone", foreign.HAR, har(`"text":`+quote(answered), `{"name":"content-encoding","value":"br"},`)},
		{"a HAR with base64", foreign.HAR, har(`"encoding":"base64","text":"`+b64([]byte(answered))+`"`, "")},
		{"Polly's list of packed chunks", foreign.HAR, har(`"encoding":"base64","text":"[\"`+packed[:half]+`\",\"`+packed[half:]+`\"]"`, `{"name":"content-encoding","value":"gzip"},`)},
		{"Polly's older list in hex", foreign.HAR, har(fmt.Sprintf(`"text":"[\"%x\"]"`, zipped(tb, answered)), `{"name":"content-encoding","value":"gzip"},`)},
		{"Polly's HAR as YAML", foreign.HAR, `log:
  entries:
    - request: {method: POST, url: '` + address + `', httpVersion: HTTP/1.1, headers: [{name: content-type, value: application/json}], postData: {textJSON: {model: m-1, max_tokens: 9, messages: [{role: user, content: Hi.}]}}}
      response: {status: 200, statusText: OK, headers: [{name: content-type, value: application/json}], content: {mimeType: application/json, text: '` + answered + `'}}
`},
		{"one exchange as JSON", foreign.Exchange, `{"request":{"method":"POST","url":"` + address + `","headers":{"Content-Type":"application/json"},"body":` + quote(asked) + `},"response":{"status":{"code":200,"message":"OK"},"headers":{"Content-Type":"application/json"},"body":` + quote(answered) + `}}`},
		{"two bodies in one object", foreign.Exchange, `{"request":` + asked + `,"response":` + answered + `}`},
	}
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func har(content, header string) string {
	return `{"log":{"version":"1.2","entries":[{"startedDateTime":"2026-05-01T10:00:00.5Z","time":1250.5,"request":{"method":"POST","url":"` + address +
		`","httpVersion":"h2","headers":[{"name":":authority","value":"api.anthropic.com"},{"name":"content-type","value":"application/json"}],"postData":{"mimeType":"application/json","text":` + quote(asked) +
		`}},"response":{"status":200,"statusText":"","httpVersion":"h2","headers":[` + header + `{"name":"content-type","value":"application/json"}],"content":{"size":9,"mimeType":"application/json",` + content + `}},"timings":{"wait":1000}}]}}`
}

// Every form says the same exchange.
func TestFormats(t *testing.T) {
	for _, tt := range samples(t) {
		f, err := foreign.Read([]byte(tt.text), "file")
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if f.Format != tt.format || f.Half != foreign.Whole || len(f.Interactions) != 1 || len(f.Warnings) > 0 {
			t.Errorf("%s: %s, %d interactions, warnings %v", tt.why, f.Format, len(f.Interactions), f.Warnings)
			continue
		}
		in := f.Interactions[0]
		got := []string{in.Request.Method, in.Request.URL, string(in.Request.Body), string(in.Response.Body), in.Request.Header.Get("content-type"), in.Response.Header.Get("Content-Type"), in.Response.Status, in.Response.Header.Get("Content-Encoding")}
		want := []string{"POST", address, asked, answered, "application/json", "application/json", "200 OK", ""}
		if strings.Contains(got[1], "unrecorded") {
			want[1] = "https://unrecorded.retake.invalid/v1/messages"
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, d)
		}
		writtenAndReadAgain(t, tt.why, f)
	}
}

// writtenAndReadAgain: what was read is a cassette.
func writtenAndReadAgain(t *testing.T, why string, f *foreign.File) {
	t.Helper()
	text, err := cassette.Encode(nil, f.File)
	if err != nil {
		t.Errorf("%s: writing it: %v", why, err)
		return
	}
	again, err := cassette.Read(text, "again")
	if err != nil {
		t.Errorf("%s: reading what was written: %v\n%s", why, err, text)
		return
	}
	for i := range f.Interactions {
		a, b := f.Interactions[i], again.Interactions[i]
		if !bytes.Equal(a.Request.Body, b.Request.Body) || !bytes.Equal(a.Response.Body, b.Response.Body) || a.Request.URL != b.Request.URL || a.Response.Code != b.Response.Code {
			t.Errorf("%s: interaction %d is another one when it is read again", why, i+1)
		}
	}
}

func TestWhatABrowserKnows(t *testing.T) {
	f, err := foreign.Read([]byte(har(`"text":`+quote(answered), "")), "x.har")
	if err != nil {
		t.Fatal(err)
	}
	in := f.Interactions[0]
	if in.Response.Duration != 1250500*time.Microsecond || in.Notes == nil || in.Notes.RecordedAt != "2026-05-01T10:00:00Z" || in.Request.Proto != "HTTP/2.0" || in.Request.Header.Get(":authority") != "" {
		t.Errorf("%+v, %+v", in.Response, in.Notes)
	}
}

// What is no traffic is left out of a HAR, and told.
func TestEntriesAside(t *testing.T) {
	entry := func(request, response, more string) string {
		return `{"request":{"method":"POST",` + request + `},"response":{` + response + `}` + more + `}`
	}
	all := []string{
		entry(`"url":"https://a.example/1"`, `"status":200,"content":{"text":"one"}`, `,"startedDateTime":"2026-05-01T10:00:02Z"`),
		entry(`"url":"https://a.example/0"`, `"status":200,"content":{"text":"zero"}`, `,"startedDateTime":"2026-05-01T10:00:01Z","timings":{"blocked":-1,"wait":20,"receive":5,"ssl":9}`),
		entry(`"url":"https://a.example/2"`, `"status":200,"content":{"text":"x"}`, `,"_fromCache":"disk","startedDateTime":"2026-05-01T10:00:03Z"`),
		entry(`"url":"wss://a.example/3"`, `"status":101`, `,"startedDateTime":"2026-05-01T10:00:04Z"`),
		entry(`"url":"https://a.example/4"`, `"status":0`, `,"startedDateTime":"2026-05-01T10:00:05Z"`),
		entry(`"url":"data:text/plain,x"`, `"status":200,"content":{"text":"x"}`, `,"startedDateTime":"2026-05-01T10:00:06Z"`),
		entry(`"url":"https://a.example/5"`, `"status":200,"content":{"size":99}`, `,"startedDateTime":"2026-05-01T10:00:07Z"`),
	}
	f, err := foreign.Read([]byte(`{"log":{"entries":[`+strings.Join(all, ",")+`]}}`), "x.har")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, in := range f.Interactions {
		got = append(got, in.Request.URL+" "+in.Response.Duration.String())
	}
	for _, w := range f.Warnings {
		got = append(got, w.Text)
	}
	want := []string{
		"https://a.example/0 25ms", "https://a.example/1 0s", "https://a.example/5 0s",
		"entry 3 (https://a.example/2) is left out: it came from the browser's cache",
		"entry 4 (wss://a.example/3) is left out: it is a websocket, whose frames are no requests with answers",
		"entry 5 (https://a.example/4) is left out: the browser got no answer",
		`a request to "data:text/plain,x", which is no address of HTTP, is left out`,
		"interaction 3: the recorder kept no body of the answer",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct{ why, text, want string }{
		{"nothing", "", "f:1:1: the file is empty"},
		{"blanks", " \n\t\n", "f:1:1: the file is empty"},
		{"audio by another name", "OggS\x00\x02\x00\x00", "f:1:1: the file is audio (Ogg), no recording of requests and answers"},
		{"other bytes", "a: b\n\x00", "f:2:1: byte 0x00: this is a binary file, no recording"},
		{"frames of a websocket", "version: 1\ninteractions:\n- kind: message\n  direction: received\n  data: {type: session.created}\n", "f:3:3: the file holds the frames of a websocket, which are no requests with answers; they cannot be replayed"},
		{"nock", `[{"scope":"https://a.example:443","method":"POST","path":"/","body":"","status":200,"response":{}}]`, "f:1:1: the file is a recording of nock, a format that is not read; retake reads go-vcr"},
		{"httpmock, in several documents", "when:\n  path: /v1/messages\nthen:\n  status: 200\n---\nwhen: {}\nthen: {}\n", "f:1:1: the file is a recording of httpmock, a format that is not read"},
		{"WireMock", `{"request":{"url":"/x","method":"POST","bodyPatterns":[]},"response":{"status":200,"bodyFileName":"x.json"}}`, "f:1:1: the file is a stub of WireMock, a format that is not read"},
		{"lines of JSON", "{\"type\":\"user\"}\n{\"type\":\"assistant\"}\n", "f:1:1: the file holds several JSON values: lines of JSON, as agents log, are not read"},
		{"JSON that is cut off", "{\"log\":\n{\"entries\":[", "f:2:13: not readable as JSON: the text ends too early; the file may be cut off"},
		{"JSON of somebody's", `{"name":"x"}`, "f:1:1: the file is JSON, but no recording, nor the body of a request or an answer"},
		{"YAML of somebody's", "name: x\n", "f:1:1: the file is no recording; retake reads go-vcr"},
		{"prose", "Dear Sir: or Madam: hello\n", "f:1:"},
		{"another stream", "data: {\"jsonrpc\":\"2.0\"}\n\n", "f:1:1: the file looks like the body of an answer, but of none of the APIs that retake reads"},
		{"no status", "http_interactions:\n- request: {method: post, uri: 'https://a.example'}\n  response: {headers: {}}\n", "f:2:3: interaction 1 has no status; the file may be cut off"},
		{"no answer", "interactions:\n- request: {method: POST, uri: 'https://a.example'}\n", "f:2:3: interaction 1 has no request with a response; the file may be cut off"},
		{"a status that there is not", "interactions:\n- request: {method: POST, uri: 'https://a.example'}\n  response: {status: {code: 1200}}\n", "f:2:3: interaction 1: the status must lie between 100 and 599, is 1200"},
		{"base64 that is none", "http_interactions:\n- request: {method: post, uri: 'https://a.example', body: {base64_string: '###'}}\n  response: {status: {code: 200}}\n", "f:2:75: base64_string is no base64"},
		{"binary that is none", "interactions:\n- request: {method: POST, uri: 'https://a.example', body: !!binary '###'}\n  response: {status: {code: 200}}\n", "f:2:59: a text is marked !!binary but is no base64"},
		{"a trace without lengths", "httprr trace v1\nPOST / HTTP/1.1\n", `f:2:1: exchange 1 must begin with two lengths, not with "POST / HTTP/1.1"; the file may be damaged`},
		{"a trace that is cut off", "httprr trace v1\n10 20\nPOST /", "f:2:1: exchange 1 is to have 10 and 20 bytes, of which 6 are left; the file may be cut off"},
		{"lengths that overflow", "httprr trace v1\n9223372036854775807 9223372036854775807\nx", "f:2:1: exchange 1 is to have"},
		{"half a gzip", "\x1f\x8b\x08\x00\x00", "f:1:1: the file is no whole gzip"},
		{"bodies of two APIs", `{"request":{"contents":[{"parts":[{"text":"Hi."}]}]},"response":` + answered + `}`, "f:1:1: the request is of gemini, the answer of anthropic-messages"},
		{"two lists that do not fit", "requests:\n- {}\nresponses: []\n", "f:2:1: there are 1 requests and 0 responses; the file may be cut off"},
		{"nested without end", strings.Repeat("[", 5000), "f:1:502: not readable as JSON: values are nested deeper than any recording's"},
		{"a laugh", laugh(), "the file repeats itself through aliases more often than any recording does"},
	} {
		_, err := foreign.Read([]byte(tt.text), "f")
		switch {
		case err == nil:
			t.Errorf("%s: it is read", tt.why)
		case failure.Of(err) != failure.CassetteInvalid || !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %s: %v\nwant %s", tt.why, failure.Of(err), err, tt.want)
		}
		if _, ok := errors.AsType[*cassette.InvalidError](err); err != nil && !ok {
			t.Errorf("%s: the error has no place: %v", tt.why, err)
		}
	}
}

// laugh is a small file that aliases make a large one.
func laugh() string {
	s := "a0: &a0 [x]\n"
	for i := range 30 {
		s += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i)
	}
	return s
}

// blanks are so many packed megabytes.
func blanks(t *testing.T, megabytes int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	for part := bytes.Repeat([]byte(" "), 1<<20); megabytes > 0; megabytes-- {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A file of a few MB can be made to fill any memory.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("it unpacks 512 MB")
	}
	_, err := foreign.Read(blanks(t, 257), "f")
	if err == nil || !strings.Contains(err.Error(), "larger than 256 MB") {
		t.Errorf("a packed file: %v", err)
	}
	body := b64(blanks(t, 60))
	one := "- request: {method: GET, uri: 'https://a.example'}\n  response: {status: {code: 200}, headers: {content-encoding: [gzip]}, body: {string: !!binary " + body + "}}\n"
	_, err = foreign.Read([]byte("interactions:\n"+strings.Repeat(one, 5)), "f")
	if err == nil || !strings.Contains(err.Error(), "the bodies unpack to more than 256 MB") {
		t.Errorf("packed bodies: %v", err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.yaml")
	if _, err := foreign.Open(path); failure.Of(err) != failure.World || !strings.Contains(err.Error(), "x.yaml: there is no such file") {
		t.Errorf("%v", err)
	}
	text := "version: 2\ninteractions:\n  - request: {method: POST, url: '" + address + "', body: '" + asked + "'}\n    response: {code: 200, body: '" + answered + "'}\n"
	for version := 1; version <= 2; version++ {
		if err := os.WriteFile(path, []byte(strings.Replace(text, "version: 2", fmt.Sprintf("version: %d", version), 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := foreign.Open(path)
		if err != nil || f.Format != foreign.GoVCR || f.Version != version || f.Name != path || len(f.Hash) != 64 {
			t.Errorf("version %d: %+v, %v", version, f, err)
		}
	}
}

// A body alone can be shown, and the two of an exchange can be put together.
func TestHalves(t *testing.T) {
	for _, tt := range []struct {
		why, text, path string
		half            foreign.Half
	}{
		{"an answer", answered, "/v1/messages", foreign.AnswerOnly},
		{"a stream", stream, "/v1/messages", foreign.AnswerOnly},
		{"a stream after a comment", ": hello\n\n" + stream, "/v1/messages", foreign.AnswerOnly},
		{"a chat", `{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`, "/chat/completions", foreign.AnswerOnly},
		{"Responses", `{"object":"response","status":"completed","model":"m","output":[]}`, "/responses", foreign.AnswerOnly},
		{"Gemini, whose path names the model", `{"modelVersion":"g-1","candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}`, "/v1beta/models/g-1:generateContent", foreign.AnswerOnly},
		{"a list of Gemini's chunks", `[{"modelVersion":"g-1","candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}]`, "/v1beta/models/g-1:streamGenerateContent?alt=sse", foreign.AnswerOnly},
		{"a request", `{"model":"m-1","max_tokens":9,"system":"Be kind.","messages":[{"role":"user","content":"Hi."}]}`, "/v1/messages", foreign.RequestOnly},
	} {
		f, err := foreign.Read([]byte(tt.text), "f")
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if got := f.Interactions[0].Request.URL; f.Half != tt.half || got != "https://unrecorded.retake.invalid"+tt.path {
			t.Errorf("%s: %v, %s", tt.why, f.Half, got)
		}
	}
}

func TestJoin(t *testing.T) {
	read := func(text string) *foreign.File {
		f, err := foreign.Read([]byte(text), "f")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f, err := foreign.Join(read(asked), read(answered))
	if err != nil || f.Half != foreign.Whole || string(f.Interactions[0].Request.Body) != asked || string(f.Interactions[0].Response.Body) != answered {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := foreign.Join(read(answered), read(asked)); err == nil {
		t.Error("an answer is taken for a request")
	}
}
