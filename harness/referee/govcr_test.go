package referee_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	govcr3 "gopkg.in/dnaeon/go-vcr.v3/cassette"
	govcr4 "gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/cassette"
)

// exchange is what go-vcr keeps of an interaction and a user may miss.
type exchange struct {
	ID                                int
	Method, URL, Host, Status         string
	Asked, Answered                   string // bodies
	AskedHeader, AnsweredHeader, Form map[string][]string
	Code                              int
	Duration                          time.Duration
}

// stock are the releases of go-vcr that read what we write.
func stock() map[string]func(file string) ([]exchange, error) {
	return map[string]func(string) ([]exchange, error){
		"v3.2.0": func(file string) ([]exchange, error) {
			c, err := govcr3.Load(strings.TrimSuffix(file, ".yaml"))
			if err != nil {
				return nil, err
			}
			var out []exchange
			for _, i := range c.Interactions {
				q, a := i.Request, i.Response
				out = append(out, exchange{i.ID, q.Method, q.URL, q.Host, a.Status, q.Body, a.Body, q.Headers, a.Headers, q.Form, a.Code, a.Duration})
			}
			return out, nil
		},
		"v4.0.8": func(file string) ([]exchange, error) {
			c, err := govcr4.Load(strings.TrimSuffix(file, ".yaml"))
			if err != nil {
				return nil, err
			}
			var out []exchange
			for _, i := range c.Interactions {
				q, a := i.Request, i.Response
				out = append(out, exchange{i.ID, q.Method, q.URL, q.Host, a.Status, q.Body, a.Body, q.Headers, a.Headers, q.Form, a.Code, a.Duration})
			}
			return out, nil
		},
	}
}

// losses tells how the cassettes of f, once written, read in each go-vcr
// release differ from f; "" for not at all.
func losses(t interface{ Fatal(...any) }, dir string, f *cassette.File) string {
	file := filepath.Join(dir, "m.yaml")
	data, err := cassette.Encode(nil, f) // what Save writes, without waiting for the disk
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := exchanges(f)
	var lost strings.Builder
	for release, load := range stock() {
		got, err := load(file)
		if err != nil {
			fmt.Fprintf(&lost, "go-vcr %s does not load it: %v\n", release, err)
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			fmt.Fprintf(&lost, "go-vcr %s (-written +read):\n%s\n", release, d)
		}
	}
	return lost.String()
}

func exchanges(f *cassette.File) []exchange {
	var out []exchange
	for n, i := range f.Interactions {
		q, a := &i.Request, &i.Response
		out = append(out, exchange{
			n, q.Method, q.URL, q.Host, a.Status, string(q.Body), string(a.Body),
			linesOf(q.Header), linesOf(a.Header), linesOf(q.Form), a.Code, a.Duration,
		})
	}
	return out
}

// linesOf spells a header as go-vcr has it after loading: nil for an empty one
// that was left out.
func linesOf(h cassette.Header) map[string][]string {
	var out map[string][]string
	for _, l := range h {
		if out == nil {
			out = map[string][]string{}
		}
		out[l.Name] = append(out[l.Name], l.Value)
	}
	return out
}

func interactionOf(asked, answered string, header ...string) cassette.Interaction {
	in := cassette.Interaction{
		Request: cassette.Request{
			Method: "POST", URL: "https://api.example.invalid/v1/messages?beta=true", Host: "api.example.invalid", Body: []byte(asked),
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(asked)),
		},
		Response: cassette.Response{
			Code: 200, Status: "200 OK", Body: []byte(answered), Proto: "HTTP/2.0", ProtoMajor: 2, ContentLength: -1,
			Duration: 1234567 * time.Microsecond, Header: cassette.Header{{Name: "Content-Type", Value: "application/json"}},
		},
	}
	for _, v := range header {
		in.Request.Header = append(in.Request.Header, cassette.Field{Name: "X-Value", Value: v})
	}
	return in
}

// TestStockReadsWhatWeWrite is the property: whatever the bodies are, both
// releases of go-vcr give them back byte for byte.
func TestStockReadsWhatWeWrite(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		f := &cassette.File{Version: 2, Notes: cassette.FileNotes{Source: cassette.Scripted, Model: "m"}}
		for range rapid.IntRange(1, 3).Draw(t, "interactions") {
			f.Interactions = append(f.Interactions, interactionOf(hardText().Draw(t, "asked"), hardText().Draw(t, "answered"), line().Draw(t, "header")))
		}
		if lost := losses(t, dir, f); lost != "" {
			t.Fatalf("%s", lost)
		}
	})
}

// hardText are bodies made of what YAML's scalars are known to get wrong.
func hardText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\n", "\n\n", " ", "  ", "\t", "\r", "\r\n", "'", "''", `"`, `\`, `\n`, ": ", " #", "- ", "? ", "---", "...", "---\n", "%YAML", "&a", "*a", "!!binary ", "|", ">", "|-\n",
			"{", "}", "[", "]", ",", "~", "null", "true", "0x1F", "1e3", "2026-07-14", "\u0085", "\u2028", "\u2029", "\uFEFF", "\u00A0", "é", "日本", "🙂", "\x00", "\x1b", "\x7f", "\xff", "\xc3", "\uFFFE", "\uFFFD",
			`{"a":"b"}`, "data: {\"x\":1}\n\n", "event: ping\n", strings.Repeat("long ", 40),
		}),
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 12), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 8), func(p []string) string { return strings.Join(p, "") })
}

// line is a header's value: no line breaks.
func line() *rapid.Generator[string] {
	return rapid.Map(hardText(), func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' || r == '\r' || r == 0 {
				return ' '
			}
			return r
		}, s)
	})
}

// FuzzStockReadsBodies looks further where the property test stops.
func FuzzStockReadsBodies(f *testing.F) {
	for _, s := range []string{"", "\n", "\n\na", " a\n b", "a\n \n", "a\n\n", "\ta\n", "\xff\n", "a\r\nb", "'", "\u0085", "\uFEFFa\n", "---\n"} {
		f.Add(s, `{"answer": "`+s+`"}`)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, asked, answered string) {
		file := &cassette.File{Version: 2, Interactions: []cassette.Interaction{interactionOf(asked, answered)}}
		if lost := losses(t, dir, file); lost != "" {
			t.Fatalf("%s", lost)
		}
	})
}
