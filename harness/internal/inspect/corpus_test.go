package inspect_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/internal/corpus"
	"github.com/retake-harness/retake/harness/internal/inspect"
	"github.com/retake-harness/retake/harness/jsondoc"
)

// Every recording of the corpus whose format and APIs we read agrees with the
// oracle, member by member.
func TestCorpusAgreesWithTheOracle(t *testing.T) {
	all := corpus.Open(t, os.Getenv)
	second, calls, failed, tools := 0, 0, 0, 0
	for _, want := range all.Files {
		if !want.GoVCR() {
			continue
		}
		if want.Format == "go-vcr-v2" {
			second++
		}
		calls, failed, tools = calls+want.ModelCalls, failed+want.Failed, tools+len(want.ToolCalls)
		t.Run(filepath.Base(want.Path), func(t *testing.T) {
			f, err := cassette.Open(all.Join(&want))
			if err != nil {
				t.Fatal(err)
			}
			in := inspect.Read(f)
			line, err := in.Facts.JSON()
			if err != nil {
				t.Fatal(err)
			}
			var got corpus.File
			if err := json.Unmarshal(line, &got); err != nil {
				t.Fatal(err)
			}
			got.Path, got.Format, got.Families = want.Path, want.Format, want.Families
			for _, f := range []*corpus.File{&want, &got} {
				canonical(f)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s\n-oracle +ours\n%s", want.Path, d)
			}
		})
	}
	t.Logf("%d files of version 2, with those of version 1 %d calls, %d failed, %d tool calls", second, calls, failed, tools)
	if second < 38 {
		t.Errorf("%d files of go-vcr's version 2, want the corpus's 38", second)
	}
}

// canonical takes away what is spelling: the order of models, the white space of
// arguments, none or empty; and what inspect does not count.
func canonical(f *corpus.File) {
	slices.Sort(f.Models)
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
