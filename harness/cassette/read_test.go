package cassette_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v4"
	govcr "gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
)

const small = `---
version: 2
interactions:
- id: 0
  request:
    body: '{"a":"it''s"}'
    url: https://api.test/v1/messages
    method: POST
  response:
    body: hello
    headers:
      Content-Type:
      - application/json
    status: 200 OK
    code: 200
    duration: 1.5s
`

func TestOpenRefuses(t *testing.T) {
	rows := []struct{ why, in, want string }{
		{"an empty file", "", ":1:1: the file is empty"},
		{"white space only", " \n\n", ":1:1: the file is empty"},
		{"a document without content", "---\n", ":1:1: the file is empty"},
		{"binary", "version: 2\n\x00\x01", ":2:1: byte 0x00: this is a binary file"},
		{"not UTF-8", "version: 2\ninter\xff", ":2:6: byte 0xff: this is a binary file"},
		{"no YAML", "version: 2\ninteractions: [", ": not readable as YAML: "},
		{"prose", "hello there\n", ":1:1: a cassette has version and interactions, this file is \"hello there\""},
		{"a list", "- 1\n", ":1:1: a cassette has version and interactions, this file is a list"},
		{"no version", "interactions: []\n", ":1:1: the file has no version"},
		{"a version to come", "version: 3\ninteractions: []\n", ":1:10: unknown cassette version \"3\""},
		{"a version of another kind", "version: [2]\ninteractions: []\n", ":1:10: unknown cassette version a list"},
		{"no interactions", "version: 2\n", ":1:1: the cassette has no interactions"},
		{"interactions of another kind", "version: 2\ninteractions: 7\n", ":2:15: interactions must be a list, not \"7\""},
		{"an interaction that is no mapping", "version: 2\ninteractions:\n- 7\n", ":3:3: interaction 1 must be a mapping"},
		{"no url", strings.Replace(small, "    url: https://api.test/v1/messages\n", "", 1), ":4:1: interaction 1 has no request url"},
		{"no method", strings.Replace(small, "    method: POST\n", "", 1), ":4:1: interaction 1 has no request method"},
		{"no response, cut at a line's end", small[:strings.Index(small, "  response:")], ":4:3: interaction 1 has no response; the file may be cut off"},
		{"no code, cut at a line's end", small[:strings.Index(small, "    status:")], ":4:1: interaction 1 has no response code; the file may be cut off"},
		{"cut inside a text", small[:strings.Index(small, "''s")], "not readable as YAML"},
		{"a code that is no number", strings.Replace(small, "code: 200", "code: fine", 1), ":15:11: interaction 1 response code must be a whole number, not \"fine\""},
		{"a duration that is none", strings.Replace(small, "1.5s", "soon", 1), ":16:15: interaction 1 response duration must be a duration such as 1.5s, not \"soon\""},
		{"a body that is a mapping", strings.Replace(small, "body: hello", "body: {a: 1}", 1), ":10:11: interaction 1 response body must be a text, not a mapping"},
		{"headers that are a list", strings.Replace(small, "    headers:\n      Content-Type:\n      - application/json\n", "    headers: [a]\n", 1), ":11:14: interaction 1 response headers must be a mapping"},
		{"a name twice", strings.Replace(small, "code: 200", "code: 200\n    code: 201", 1), "has \"code\" twice"},
		{"x-retake of a wrong type", "x-retake: {model: [1]}\n" + small[4:], "x-retake does not fit: the value at \"/model\" has the wrong type"},
		{"base64 that is none", strings.Replace(small, "body: hello", "body: !!binary \"%%\"", 1), "is marked !!binary but is no base64"},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.yaml")
			if err := os.WriteFile(path, []byte(r.in), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := cassette.Open(path)
			if failure.Of(err) != failure.CassetteInvalid {
				t.Fatalf("Open: %v (class %q), want class cassette_invalid", err, failure.Of(err))
			}
			if !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), r.want) {
				t.Errorf("Open: %v\nwant the path and %q", err, r.want)
			}
			for _, leak := range []string{"Unmarshal", "cassette.", "yaml:", "[]", "struct"} {
				if text := strings.TrimPrefix(err.Error(), path); strings.Contains(text, leak) {
					t.Errorf("the message shows an inner name %q: %v", leak, err)
				}
			}
		})
	}
}

func TestAMissingFileSaysHowToRecord(t *testing.T) {
	_, err := cassette.Open(filepath.Join(t.TempDir(), "cassettes", "travel", "umbrella", "claude.yaml"))
	if failure.Of(err) != failure.World || !strings.Contains(err.Error(), "retake record travel/umbrella") {
		t.Errorf("Open: %v (class %q), want class world and the command that records", err, failure.Of(err))
	}
}

func TestACassetteWithoutInteractionsIsAWarning(t *testing.T) {
	f, err := cassette.Read([]byte("---\nversion: 2\ninteractions: []\n"), "x")
	if err != nil || len(f.Warnings) != 1 {
		t.Errorf("Read: %v, %v, want one warning", f, err)
	}
}

func TestAliasesDoNotExplode(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 2\nx-retake:\n  a0: &a0 [x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		b.WriteString("  a" + itoa(i) + ": &a" + itoa(i) + " [" + strings.TrimSuffix(strings.Repeat("*a"+itoa(i-1)+", ", 8), ", ") + "]\n")
	}
	b.WriteString("interactions: []\n")
	_, err := cassette.Read([]byte(b.String()), "bomb.yaml")
	if failure.Of(err) != failure.CassetteInvalid {
		t.Errorf("Read: %v, want class cassette_invalid", err)
	}
}

func itoa(i int) string { return string([]byte{byte('0' + i/10), byte('0' + i%10)}) }

func TestOtherSpellingsMeanTheSame(t *testing.T) {
	want, ok := cassette.ReadFast([]byte(small))
	if !ok {
		t.Fatal("the fast reader declines a plain file")
	}
	rows := []struct{ why, in string }{
		{"comments", "# mine\n" + small},
		{"no document mark", small[4:]},
		{"CRLF", strings.ReplaceAll(small, "\n", "\r\n")},
		{"other indents", strings.ReplaceAll(small, "\n    ", "\n        ")},
		{"flow style", `{version: 2, interactions: [{id: 0, request: {body: '{"a":"it''s"}', url: "https://api.test/v1/messages", method: POST}, response: {body: hello, headers: {Content-Type: [application/json]}, status: 200 OK, code: 200, duration: 1.5s}}]}`},
		{"an anchor", strings.Replace(strings.Replace(small, "body: hello", "body: &b hello", 1), "duration: 1.5s", "duration: 1.5s\n    proto: \"\"", 1)},
		{"base64", strings.Replace(small, "body: hello", "body: !!binary aGVsbG8=", 1)},
		{"a folded text", strings.Replace(small, "body: hello", "body: >-\n      hello", 1)},
		{"a merged mapping", strings.Replace(small, "    status: 200 OK\n    code: 200\n", "    <<: {status: 200 OK, code: 200}\n", 1)},
		{"an extra member", strings.Replace(small, "code: 200", "code: 200\n    mood: good", 1)},
	}
	for _, r := range rows {
		got, err := cassette.Read([]byte(r.in), "x")
		if err != nil {
			t.Errorf("%s: %v", r.why, err)
			continue
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(cassette.File{}, "Name", "Hash", "Warnings"), cmpopts.IgnoreFields(cassette.Interaction{}, "Line")); d != "" {
			t.Errorf("%s:\n%s", r.why, d)
		}
	}
}

// stock reads with go-vcr's own loader.
func stock(t *testing.T, data []byte) (*govcr.Cassette, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stock")
	if err := os.WriteFile(path+".yaml", data, 0o600); err != nil {
		t.Fatal(err)
	}
	return govcr.Load(path)
}

// ours turns stock's reading into our form.
func ours(c *govcr.Cassette) []cassette.Interaction {
	var out []cassette.Interaction
	for _, i := range c.Interactions {
		q, a := i.Request, i.Response
		out = append(out, cassette.Interaction{
			ID: i.ID,
			Request: cassette.Request{
				Method: q.Method, URL: q.URL, Host: q.Host, Header: cassette.HeaderOf(q.Headers), Body: []byte(q.Body),
				Form: cassette.HeaderOf(http.Header(q.Form)), Proto: q.Proto, ProtoMajor: q.ProtoMajor, ProtoMinor: q.ProtoMinor,
				ContentLength: q.ContentLength, TransferEncoding: q.TransferEncoding, Trailer: cassette.HeaderOf(q.Trailer),
				RemoteAddr: q.RemoteAddr, RequestURI: q.RequestURI,
			},
			Response: cassette.Response{
				Code: a.Code, Status: a.Status, Header: cassette.HeaderOf(a.Headers), Body: []byte(a.Body), Duration: a.Duration,
				Proto: a.Proto, ProtoMajor: a.ProtoMajor, ProtoMinor: a.ProtoMinor, ContentLength: a.ContentLength,
				TransferEncoding: a.TransferEncoding, Trailer: cassette.HeaderOf(a.Trailer), Uncompressed: a.Uncompressed,
			},
		})
	}
	return out
}

var sameReading = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() != reflect.TypeFor[cassette.Header]() }, cmpopts.EquateEmpty()),
	cmpopts.IgnoreFields(cassette.Interaction{}, "Line", "Notes"),
	cmp.Transformer("sorted", func(h cassette.Header) http.Header {
		out := http.Header{}
		for _, f := range h {
			out[f.Name] = append(out[f.Name], f.Value)
		}
		return out
	}),
}

func corpus(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("RETAKE_CORPUS")
	if dir == "" {
		tb.Skip("RETAKE_CORPUS is not set: the folder with other people's recordings is not here")
	}
	return dir
}

// corpusCassettes are the go-vcr files of the corpus.
func corpusCassettes(tb testing.TB) map[string]string {
	tb.Helper()
	dir := corpus(tb)
	manifest, err := os.ReadFile(filepath.Join(dir, "MANIFEST.tsv"))
	if err != nil {
		tb.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(manifest)) {
		cells := strings.Split(line, "\t")
		if cells[4] == "go-vcr-v1" || cells[4] == "go-vcr-v2" {
			out[filepath.Join(dir, cells[0])] = cells[4]
		}
	}
	return out
}

func TestCorpusReadsAsStockGoVCRReadsIt(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole corpus is read twice")
	}
	fast := map[string]int{}
	all := map[string]int{}
	for path, format := range corpusCassettes(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := cassette.Open(path)
		if err != nil {
			t.Errorf("Open: %v", err)
			continue
		}
		all[format]++
		if _, ok := cassette.ReadFast(data); ok {
			fast[format]++
		} else {
			t.Logf("not on the fast path: %s", path)
		}
		if format == "go-vcr-v1" {
			data = bytes.Replace(data, []byte("version: 1\n"), []byte("version: 2\n"), 1)
			data = bytes.ReplaceAll(data, []byte("    duration: \"\"\n"), nil)
		}
		c, err := stock(t, data)
		if err != nil {
			t.Errorf("%s: go-vcr: %v", path, err)
			continue
		}
		if d := cmp.Diff(ours(c), f.Interactions, sameReading...); d != "" {
			t.Errorf("%s (- go-vcr, + ours):\n%s", path, d)
		}
	}
	t.Logf("fast path: %v of %v", fast, all)
}

func TestStockFilesTakeTheFastPath(t *testing.T) {
	c := govcr.New(filepath.Join(t.TempDir(), "stock"))
	c.MarshalFunc = yaml.Marshal
	bodies := []string{
		`{"a":"it's"}`, "a\nb\n", "\nlead", "a\nb\n\n\n", "a\nb", "\xff\xfe12", "a\r\nb", "plain", "", "null", "tab\tx\n\ty\n",
		"é😀", "a \nb\n", "x: y", "12", " x\ny\n", "data: {}\n\ndata: [DONE]\n\n", "<html>", "\"quoted\"", "a\n  \nb\n", "{\"a\": \"b\"}\n",
	}
	for _, b := range bodies {
		c.AddInteraction(&govcr.Interaction{
			Request:  govcr.Request{URL: "https://x/y?a=b", Method: "POST", Body: b, Headers: http.Header{"A": {"1", "b: c", "x\ny", b}}, Form: map[string][]string{"alt": {"sse"}}},
			Response: govcr.Response{Body: b, Headers: http.Header{"B": {}, "Date": {"Thu, 01 Jan 1970 00:00:00 GMT"}}, Status: "200 OK", Code: 200, Duration: 1234567 * time.Microsecond},
		})
	}
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := cassette.ReadFast(data)
	if !ok {
		t.Fatalf("the fast reader declines what go-vcr wrote:\n%s", data)
	}
	for i, in := range f.Interactions {
		if string(in.Response.Body) != bodies[i] || string(in.Request.Body) != bodies[i] {
			t.Errorf("body %d: got %q, want %q", i, in.Response.Body, bodies[i])
		}
	}
}
