package referee_test

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/referee"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// differences are what a codec and an SDK read differently of one answer.
type differences struct {
	fields []string
	detail string
}

// kind names the differences without their values.
func (d *differences) kind() string { return strings.Join(d.fields, ", ") }

func (d *differences) add(field, codec, sdk, none string) {
	if codec == sdk {
		return
	}
	kind := " differ"
	switch {
	case sdk == none:
		kind = " only of the codec"
	case codec == none:
		kind = " only of the SDK"
	}
	d.fields = append(d.fields, field+kind)
	d.detail += fmt.Sprintf("\n\t%s: codec %s, SDK %s", field, codec, sdk)
}

// TestDifferences holds the codecs against the official SDKs, on our own
// fixtures. Every difference is explained, and every explanation has its
// difference.
func TestDifferences(t *testing.T) {
	hold(t, fixtures(), func(at string) bool { return !isRecording(at) })
}

// TestDifferencesOfRecordings does the same with what others recorded.
func TestDifferencesOfRecordings(t *testing.T) {
	corpus := os.Getenv("RETAKE_CORPUS")
	if corpus == "" {
		t.Skip("RETAKE_CORPUS does not name the folder of the corpus; its recordings are not part of this repository")
	}
	answers := recordings(t, corpus)
	t.Logf("%d answers of models", len(answers))
	hold(t, answers, isRecording)
}

// isRecording tells an answer of the corpus, which is named by its file.
func isRecording(at string) bool { return strings.Contains(at, ".yaml #") }

// hold compares the answers and checks the explanations that concern them.
func hold(t *testing.T, answers []fixture, concerns func(at string) bool) {
	t.Helper()
	left := map[string]string{} // explanations not yet needed
	for _, e := range explanations() {
		if e.why == "" {
			t.Errorf("no reason: %q", e.at)
		}
		for _, at := range e.at {
			if _, twice := left[at]; twice {
				t.Errorf("explained twice: %s", at)
			}
			if concerns(at) {
				left[at] = e.why
			}
		}
	}
	for _, f := range answers {
		d := compare(t, f)
		if len(d.fields) == 0 {
			continue
		}
		at := f.name + ": " + d.kind()
		if _, ok := left[at]; !ok {
			t.Errorf("not explained: %s%s", at, d.detail)
		}
		delete(left, at)
	}
	for _, at := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("no longer a difference, remove its explanation: %s (%s)", at, left[at])
	}
}

func compare(t *testing.T, f fixture) differences {
	t.Helper()
	c, ok := codec.For(f.api)
	if !ok {
		t.Fatalf("%s: no codec for %q", f.name, f.api)
	}
	ours, theirs := referee.Codec(c, f.answer), referee.Decoders()[f.api](t.Context(), f.answer)
	var d differences
	if ours.Failed != theirs.Failed {
		side := map[bool]string{true: "codec", false: "SDK"}[ours.Failed]
		d.fields, d.detail = append(d.fields, "failed only for the "+side), "\n\tfailed only for the "+side
	}
	d.add("text", fmt.Sprintf("%q", ours.Text), fmt.Sprintf("%q", theirs.Text), `""`)
	d.add("calls", spell(ours.Calls), spell(theirs.Calls), "")
	d.add("stop", ours.Stop, theirs.Stop, "")
	d.add("input", fmt.Sprint(ours.Input), fmt.Sprint(theirs.Input), "0")
	d.add("output", fmt.Sprint(ours.Output), fmt.Sprint(theirs.Output), "0")
	d.add("cache read", fmt.Sprint(ours.CacheRead), fmt.Sprint(theirs.CacheRead), "0")
	d.add("cache write", fmt.Sprint(ours.CacheWrite), fmt.Sprint(theirs.CacheWrite), "0")
	d.add("reasoning", fmt.Sprint(ours.Reasoning), fmt.Sprint(theirs.Reasoning), "0")
	return d
}

// spell writes calls with their arguments as canonical JSON, where they are.
func spell(calls []referee.Call) string {
	var b strings.Builder
	for _, c := range calls {
		args := c.Args
		if canonical, err := jsondoc.Canonical(nil, []byte(args)); err == nil {
			args = string(canonical)
		}
		fmt.Fprintf(&b, "%s=%s(%s) ", c.ID, c.Name, args)
	}
	return strings.TrimSpace(b.String())
}

// recordings are the corpus's answers of models, in cassettes of go-vcr, from
// the four APIs.
func recordings(t *testing.T, corpus string) []fixture {
	t.Helper()
	facts, err := os.ReadFile(filepath.Join(corpus, "FACTS.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []fixture
	scan := bufio.NewScanner(bytes.NewReader(facts))
	scan.Buffer(nil, 16<<20)
	for scan.Scan() {
		var row struct {
			Path     string     `json:"path"`
			Format   string     `json:"format"`
			Families []wire.API `json:"families"`
		}
		if err := json.Unmarshal(scan.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(row.Format, "go-vcr-v") || !spoken(row.Families) {
			continue
		}
		file, err := cassette.Open(filepath.Join(corpus, row.Path))
		if err != nil {
			t.Fatal(err)
		}
		for i := range file.Interactions {
			if f, ok := recording(row.Path, i+1, &file.Interactions[i]); ok {
				out = append(out, f)
			}
		}
	}
	if len(out) == 0 {
		t.Errorf("%s: no recording of go-vcr was found", corpus)
	}
	return out
}

func spoken(families []wire.API) bool {
	return len(families) > 0 && !slices.ContainsFunc(families, func(a wire.API) bool {
		_, ok := codec.For(a)
		return !ok
	})
}

func recording(path string, n int, in *cassette.Interaction) (fixture, bool) {
	api, ok := codec.Detect(in.Request.Method, in.Request.URL, in.Request.Body)
	if !ok {
		return fixture{}, false
	}
	c, _ := codec.For(api)
	asked, err := c.DecodeRequest(in.Request.URL, in.Request.Body)
	return fixture{
		name: fmt.Sprintf("%s #%d", strings.TrimPrefix(path, "files/"), n), api: api,
		answer: referee.Answer{
			Status: in.Response.Code, ContentType: in.Response.Header.Get("Content-Type"), Body: in.Response.Body,
			Stream: err == nil && asked.Stream,
		},
	}, true
}
