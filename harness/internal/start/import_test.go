package start_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/cassette/foreign"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/corpus"
	"github.com/retake-harness/retake/harness/internal/inspect"
	"github.com/retake-harness/retake/harness/internal/start"
	"github.com/retake-harness/retake/harness/redact"
)

// Every recording of the corpus with calls of the four APIs imports, and what was
// imported says the same as what was recorded.
func TestTheCorpusImports(t *testing.T) {
	all := corpus.Open(t, os.Getenv)
	files, calls, cassettes := 0, 0, 0
	for _, f := range all.Files {
		if !f.Foreign() && !f.GoVCR() {
			continue
		}
		files++
		dir := t.TempDir()
		one := filepath.Join(dir, "all.yaml")
		if _, _, err := start.Import([]string{all.Join(&f)}, foreign.Options{}, start.Target{Out: one}); err != nil {
			t.Errorf("%s: %v", f.Path, err)
			continue
		}
		_, written, err := start.Import([]string{all.Join(&f)}, foreign.Options{}, start.Target{Cassettes: dir})
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
			continue
		}
		cassettes += len(written)
		before, err := foreign.Open(all.Join(&f))
		if err != nil {
			t.Fatal(err)
		}
		after, err := cassette.Open(one)
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
			continue
		}
		if after.Notes.Source != cassette.Imported {
			t.Errorf("%s: the source is %q", f.Path, after.Notes.Source)
		}
		calls += len(after.Interactions)
		want, got := inspect.Read(before.File), inspect.Read(after)
		if d := cmp.Diff(want.Facts.Calls, got.Facts.Calls); d != "" {
			t.Errorf("%s (-recorded +imported):\n%s", f.Path, d)
		}
		if !bytes.Equal(want.Transcript, got.Transcript) {
			t.Errorf("%s: the conversation is another one", f.Path)
		}
	}
	t.Logf("%d files, %d calls, %d cassettes", files, calls, cassettes)
	if files < 124 {
		t.Errorf("%d files, want the corpus's 124", files)
	}
}

const (
	request  = `{"model":"m-1","max_tokens":9,"system":"Be kind.","messages":[{"role":"user","content":"Hi, I am a@b.example."}]}`
	response = `{"id":"1","type":"message","role":"assistant","model":"m-1-2026","content":[{"type":"text","text":"Hello!"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}`
	hidden   = "canary-0123456789-abcdefghij"
)

// exchange is a file of one exchange.
func exchange(url, headers, body string) string {
	quoted := strings.NewReplacer(`"`, `\"`).Replace
	return `{"request":{"method":"POST","url":"` + url + `","headers":{` + headers + `},"body":"` + quoted(body) + `"},"response":{"status":200,"headers":{"Content-Type":"application/json","Set-Cookie":"s=1","X-Tenant":"t","Date":"Fri, 24 Oct 2025 17:54:02 GMT"},"body":"` + quoted(response) + `"}}`
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeysAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	path := file(t, "x.json", exchange("https://me:pw@api.anthropic.com/v1/messages?key="+hidden+"&beta=true", `"X-Api-Key":"`+hidden+`","Authorization":"Bearer `+hidden+`","Cookie":"c=`+hidden+`","api-key":"`+hidden+`","User-Agent":"Anthropic/Python 1.0"`, request))
	o := foreign.Options{Redact: cassette.Redaction{JSON: []string{"/messages/*/content"}}, Secrets: redact.New(redact.Secret{Name: "KEY", Value: hidden})}
	_, written, err := start.Import([]string{path}, o, start.Target{Cassettes: dir, Name: "travel/hello"})
	if err != nil {
		t.Fatal(err)
	}
	want := []start.Written{{Path: filepath.Join(dir, "travel", "hello", "m-1.yaml"), Scenario: "travel/hello", Model: "m-1", Calls: 1}}
	if d := cmp.Diff(want, written); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	text, err := os.ReadFile(written[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{hidden, "a@b.example", "me:pw", "Set-Cookie", "X-Tenant", "Authorization"} {
		if bytes.Contains(text, []byte(gone)) {
			t.Errorf("%q is in the cassette:\n%s", gone, text)
		}
	}
	for _, there := range []string{"beta=true", `"source": "imported"`, `"sdk": "Anthropic/Python 1.0"`, `"recorded_at": "2025-10-24T17:54:02Z"`, "[redacted]"} {
		if !bytes.Contains(text, []byte(there)) {
			t.Errorf("%q is not in the cassette:\n%s", there, text)
		}
	}
}

func TestNotImported(t *testing.T) {
	there := file(t, "there.yaml", "version: 2\ninteractions: []\n")
	for _, tt := range []struct {
		why, text, out, want string
	}{
		{"a secret in what was said", exchange("https://api.anthropic.com/v1/messages", "", strings.Replace(request, "Hi", hidden, 1)), "", `x.json:1:1: interaction 1: the request's body at "/messages/0/content" has the value of the secret KEY, which must not be written`},
		{"no model call", exchange("https://metrics.example.com/track", "", "{}"), "", "x.json:1:1: the file has no call to a model API that retake reads; its requests went to: metrics.example.com (1)"},
		{"a request alone", request, "", "x.json:1:1: the file is the body of a request without its answer; name the answer's file after it"},
		{"a cassette in the way", exchange("https://api.anthropic.com/v1/messages", "", request), there, "there.yaml is there already; write over it with --force"},
	} {
		o := foreign.Options{Secrets: redact.New(redact.Secret{Name: "KEY", Value: hidden})}
		dir := t.TempDir()
		_, _, err := start.Import([]string{file(t, "x.json", tt.text)}, o, start.Target{Cassettes: dir, Out: tt.out})
		if err == nil || failure.Of(err) != failure.CassetteInvalid || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v\nwant %s", tt.why, err, tt.want)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: something was written: %v", tt.why, left)
		}
	}
}

func TestNameOf(t *testing.T) {
	for path, want := range map[string]string{
		"tests/cassettes/test_refund.yaml":        "test_refund",
		"a/should-work_123/recording.har":         "should-work_123",
		"recording.har":                           "imported",
		"x/Test[one two].yaml.gz":                 "Test-one-two",
		"cassettes/refund/tools.yaml":             "refund",
		"x.httprr.gz":                             "x",
		"/.json":                                  "imported",
		"x/answers.sse":                           "answers",
		"cassettes/travel/umbrella/claude-4.yaml": "claude-4",
	} {
		if got := start.NameOf(filepath.FromSlash(path)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
