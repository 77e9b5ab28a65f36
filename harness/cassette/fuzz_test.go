package cassette_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v4"
	govcr "gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/cassette"
)

// FuzzReadersAgree holds the fast reader to the YAML parser: it declines, or
// reads the same.
func FuzzReadersAgree(f *testing.F) {
	f.Add([]byte(small))
	for _, body := range []string{
		"'a''b\n\n       c'", "|+\n      a\n\n", "|2-\n       a\n      b", "|\n\n      a", `"a\n\x41\u00e9\/"`, "!!binary |\n      aGVs\n      bG8=",
		"null", "-1", "a: b", "a #b", "|\n      a\n     \n      b", "'a \n\n\n      b '", "{}", "\"\"", "x y", "|-\n      a\n        \n", "2020-01-01", ".5", "~", "0x10",
	} {
		f.Add([]byte(strings.Replace(small, "body: hello", "body: "+body, 1)))
		f.Add([]byte(strings.Replace(small, "- application/json", "- "+body, 1)))
	}
	f.Add([]byte("---\nversion: 2\nx-retake: {\"source\": \"scripted\", \"hashes\": {\"system\": \"ab\"}, \"x\": [1, 2.50, null, true]}\ninteractions: []\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fast, ok := cassette.ReadFast(bytes.Clone(data))
		if !ok {
			return
		}
		slow, err := cassette.ReadYAML(data, "x")
		if err != nil {
			t.Fatalf("only the fast reader accepts it: %v\n%s", err, data)
		}
		if d := cmp.Diff(slow, fast, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("- yaml, + fast:\n%s\n%s", d, data)
		}
	})
}

// FuzzRead must neither panic nor read anything but what go-vcr reads.
func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{version: 2, interactions: [{id: 0, request: {body: ~, url: x, method: 2020-01-01}, response: {body: 0x1F, code: 1}}]}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := cassette.Read(bytes.Clone(data), "x")
		if err != nil || read.Version != 2 {
			return
		}
		path := filepath.Join(dir, "stock")
		if err := os.WriteFile(path+".yaml", data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := govcr.Load(path)
		if err != nil {
			return // we are more lenient: an empty duration, an unknown member's value
		}
		if d := cmp.Diff(ours(c), read.Interactions, sameReading...); d != "" {
			t.Fatalf("- go-vcr, + ours:\n%s\n%s", d, data)
		}
	})
}

func roundTrip(t interface {
	Fatalf(string, ...any)
}, body, value []byte, dir string,
) {
	in := cassette.File{
		Notes: cassette.FileNotes{Source: cassette.Scripted, Unknown: []byte(`{"later":[1,{"a":"b"}]}`)},
		Interactions: []cassette.Interaction{{
			Request:  cassette.Request{Method: "POST", URL: "https://x/y?z=1", Host: "x", Body: body, Header: cassette.Header{{"A", string(value)}, {"A", "2"}}},
			Response: cassette.Response{Code: 200, Status: "200 OK", Body: body, Header: cassette.Header{{"B", "c"}}, Duration: 1500 * time.Millisecond, ContentLength: -1},
			Notes:    &cassette.Notes{Model: "m", Chunks: []cassette.Chunk{{Bytes: 1, Micros: 2}}},
		}},
	}
	data, err := cassette.Encode(nil, &in)
	if err != nil {
		t.Fatalf("Encode: %v", err)
	}
	fast, ok := cassette.ReadFast(bytes.Clone(data))
	if !ok {
		t.Fatalf("the fast reader declines what we wrote:\n%s", data)
	}
	opts := append(cmp.Options{cmpopts.IgnoreFields(cassette.File{}, "Version")}, sameReading...)
	if d := cmp.Diff(&in, fast, opts...); d != "" {
		t.Fatalf("fast reader:\n%s\n%s", d, data)
	}
	if d := cmp.Diff(in.Interactions[0].Notes, fast.Interactions[0].Notes); d != "" {
		t.Fatalf("x-retake: %s", d)
	}
	path := filepath.Join(dir, "stock")
	if err := os.WriteFile(path+".yaml", data, 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	c, err := govcr.Load(path)
	if err != nil {
		t.Fatalf("go-vcr: %v\n%s", err, data)
	}
	if d := cmp.Diff(in.Interactions, ours(c), sameReading...); d != "" {
		t.Fatalf("go-vcr reads something else:\n%s\n%s", d, data)
	}
}

func FuzzSaveLoadsInStockGoVCR(f *testing.F) {
	for _, s := range []string{"", "a", "a\nb\n", "\n\nlead", " lead\nx", "\tlead\nx", "a\n\n\n", "a\n   \n", "\xff", "\r\n", "'", "\u2028", "\ufeff", "a\n\tb", "\x7f", "\u0085x", "null", "~", "1e3", "- x", "a: b", "#c", "😀"} {
		f.Add([]byte(s), []byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, body, value []byte) { roundTrip(t, body, value, dir) })
}

func TestBodiesSurviveTheRoundTrip(t *testing.T) {
	dir := t.TempDir()
	piece := rapid.SampledFrom([]string{"\n", " ", "\t", "\r", "'", `"`, `\`, ":", "#", "-", "a", "{", "é", "😀", "\u2028", "\u0085", "\ufeff", "\x00", "\xff", "|", "%", "data: {}\n\n", "  \n", "0", "null", "~"})
	rapid.Check(t, func(rt *rapid.T) {
		body := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "body"), "")
		value := strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(rt, "value"), "")
		roundTrip(rt, []byte(body), []byte(value), dir)
	})
}

func TestStockBodiesTakeTheFastPathOrMeanTheSame(t *testing.T) {
	dir := t.TempDir()
	piece := rapid.SampledFrom([]string{"\n", " ", "\t", "\r", "'", `"`, `\`, ":", "#", "-", "a", "{", "é", "😀", "\xff", "|", "data: {}\n\n", "  \n", "0", "null"})
	fast, all := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		body := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "body"), "")
		c := govcr.New(filepath.Join(dir, "stock"))
		c.MarshalFunc = yaml.Marshal
		c.AddInteraction(&govcr.Interaction{
			Request:  govcr.Request{URL: "u", Method: "POST", Body: body, Headers: http.Header{"A": {body, "x"}}},
			Response: govcr.Response{Body: body, Code: 200, Status: "200 OK"},
		})
		if err := c.Save(); err != nil {
			rt.Fatalf("%v", err)
		}
		data, err := os.ReadFile(c.File)
		if err != nil {
			rt.Fatalf("%v", err)
		}
		all++
		if _, ok := cassette.ReadFast(bytes.Clone(data)); ok {
			fast++
		} else if os.Getenv("SHOW_DECLINED") != "" {
			rt.Logf("declined: %q\n%s", body, data)
		}
		f, err := cassette.Read(data, "x")
		if err != nil {
			rt.Fatalf("%v", err)
		}
		if string(f.Interactions[0].Response.Body) != body || f.Interactions[0].Request.Header[0].Value != body {
			rt.Fatalf("got %q, want %q\n%s", f.Interactions[0].Response.Body, body, data)
		}
	})
	t.Logf("fast path: %d of %d files", fast, all)
}
