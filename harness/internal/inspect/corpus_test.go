package inspect_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/cassette/foreign"
	"github.com/retake-harness/retake/harness/internal/corpus"
	"github.com/retake-harness/retake/harness/internal/inspect"
	"github.com/retake-harness/retake/harness/jsondoc"
)

// apart are recordings about which we say something else than the oracle, and why.
var apart = []struct {
	why, recording string
	change         func(want *corpus.File)
}{
	{
		"the oracle does not count Anthropic's thinking tokens (output_tokens_details)",
		"fable-fallback/stream-a-refusal.sse",
		func(want *corpus.File) { want.Reasoning, want.Calls[0].Reasoning = new(int64(67)), new(int64(67)) },
	},
	{
		"the recorder kept no body of the second answer: no answer is no success",
		"test_litellm_aresponses_streaming_async.yaml",
		func(want *corpus.File) {
			want.Failed = 1
			want.Calls[1].Error = new("unreadable answer: openai responses: reading a stream: none of its events is one of this API")
		},
	},
}

// Every recording of the corpus whose format and APIs we read agrees with the
// oracle, member by member.
func TestCorpusAgreesWithTheOracle(t *testing.T) {
	all := corpus.Open(t, os.Getenv)
	formats := map[string]int{}
	calls, failed, tools := 0, 0, 0
	for _, want := range all.Files {
		if !want.GoVCR() && !want.Foreign() {
			continue
		}
		formats[want.Format]++
		calls, failed, tools = calls+want.ModelCalls, failed+want.Failed, tools+len(want.ToolCalls)
		t.Run(filepath.Base(want.Path), func(t *testing.T) {
			f, err := foreign.Open(all.Join(&want))
			if err != nil {
				t.Fatal(err)
			}
			in := inspect.Read(f.File)
			line, err := in.Facts.JSON()
			if err != nil {
				t.Fatal(err)
			}
			var got corpus.File
			if err := json.Unmarshal(line, &got); err != nil {
				t.Fatal(err)
			}
			for _, row := range apart {
				if want.Is(row.recording) {
					row.change(&want)
				}
			}
			if f.Half == foreign.AnswerOnly {
				got.Calls[0].Status = 0 // the oracle knows none
			}
			got.Path, got.Format, got.Families = want.Path, want.Format, want.Families
			canonical(&want)
			canonical(&got)
			hashed(&want, &got)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s\n-oracle +ours\n%s", want.Path, d)
			}
		})
	}
	t.Logf("files %v: %d calls, %d failed, %d tool calls", formats, calls, failed, tools)
	for format, least := range map[string]int{
		"go-vcr-v2": 38, "go-vcr-v1": 7, "vcrpy-yaml": 35, "ruby-vcr-yaml": 12, "httprr": 6, "httprr.gz": 1, "polly-har": 7,
		"json-req-resp": 5, "raw-sse": 4, "raw-json": 4, "wiremock-body-raw-json": 4, "wiremock-body-raw-sse": 1,
	} {
		if formats[format] < least {
			t.Errorf("%d files of %s, want the corpus's %d", formats[format], format, least)
		}
	}
}

// canonical takes away what is spelling: the order of models, the white space of
// arguments, none or empty; and what inspect does not count.
func canonical(f *corpus.File) {
	slices.Sort(f.Models)
	if len(f.Models) == 0 {
		f.Models = nil
	}
	if len(f.StopReasons) == 0 {
		f.StopReasons = nil
	}
	if len(f.ToolCalls) == 0 {
		f.ToolCalls = nil
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		c.TextChars, c.Results = 0, 0
		if len(c.Stop) == 0 {
			c.Stop = nil
		}
		if len(c.Tools) == 0 {
			c.Tools = nil
		}
		for k := range c.Tools {
			if b, err := jsondoc.Canonical(nil, []byte(c.Tools[k].Args)); err == nil {
				c.Tools[k].Args = string(b)
			}
		}
	}
}

// hashed gives long arguments the form that they have in the oracle: the hash of
// their JSON with sorted members and a space after each comma and colon.
func hashed(want, got *corpus.File) {
	for i := range want.Calls {
		for k, w := range want.Calls[i].Tools {
			if !strings.HasPrefix(w.Args, "sha256:") || i >= len(got.Calls) || k >= len(got.Calls[i].Tools) {
				continue
			}
			g := &got.Calls[i].Tools[k]
			text, err := jsontext.AppendFormat(nil, []byte(g.Args), jsontext.ReorderRawObjects(true), jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))
			if err == nil {
				g.Args = fmt.Sprintf("sha256:%x", sha256.Sum256(text))
			}
		}
	}
}
