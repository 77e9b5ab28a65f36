package inspect_test

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/internal/inspect"
	"github.com/retake-harness/retake/harness/jsondoc"
)

// fact is the oracle's view of one file: counted by another program, from the
// same bytes.
type fact struct {
	Path        string   `json:"path"`
	Format      string   `json:"format"`
	Families    []string `json:"families"`
	ModelCalls  int      `json:"model_calls"`
	Failed      int      `json:"model_calls_failed"`
	ToolCalls   []string `json:"tool_calls"`
	ParallelMax int      `json:"parallel_max"`
	StopReasons []string `json:"stop_reasons"`
	Input       *int64   `json:"input_tokens"`
	Output      *int64   `json:"output_tokens"`
	CacheRead   *int64   `json:"cache_read_tokens"`
	CacheWrite  *int64   `json:"cache_write_tokens"`
	Reasoning   *int64   `json:"reasoning_tokens"`
	Models      []string `json:"models"`
	Calls       []struct {
		Family     string   `json:"family"`
		Status     int      `json:"status"`
		Stream     bool     `json:"stream"`
		Model      *string  `json:"model"`
		Stop       []string `json:"stop"`
		Tools      []tool   `json:"tools"`
		Input      *int64   `json:"input"`
		Output     *int64   `json:"output"`
		CacheRead  *int64   `json:"cache_read"`
		CacheWrite *int64   `json:"cache_write"`
		Reasoning  *int64   `json:"reasoning"`
		Error      *string  `json:"error"`
	} `json:"calls"`
}

type tool struct {
	Name string  `json:"name"`
	ID   *string `json:"id"`
	Args string  `json:"args"`
}

// spoken are the families that retake has codecs for.
var spoken = []string{"anthropic-messages", "openai-chat", "openai-responses", "gemini"}

// Every recording of the corpus whose format and APIs we read agrees with the
// oracle, member by member.
func TestCorpusAgreesWithTheOracle(t *testing.T) {
	corpus := os.Getenv("RETAKE_CORPUS")
	if corpus == "" {
		t.Skip("RETAKE_CORPUS does not name the folder of the corpus; its recordings are not part of this repository")
	}
	files, calls, failed, tools := 0, 0, 0, 0
	for _, want := range facts(t, corpus) {
		files++
		calls, failed, tools = calls+want.ModelCalls, failed+want.Failed, tools+len(want.ToolCalls)
		t.Run(filepath.Base(want.Path), func(t *testing.T) {
			f, err := cassette.Open(filepath.Join(corpus, want.Path))
			if err != nil {
				t.Fatal(err)
			}
			in := inspect.Read(f)
			line, err := in.Facts.JSON()
			if err != nil {
				t.Fatal(err)
			}
			var got fact
			if err := json.Unmarshal(line, &got); err != nil {
				t.Fatal(err)
			}
			got.Path, got.Format, got.Families = want.Path, want.Format, want.Families
			for _, f := range []*fact{&want, &got} {
				f.canonical()
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s\n-oracle +ours\n%s", want.Path, d)
			}
		})
	}
	t.Logf("%d files, %d calls, %d failed, %d tool calls", files, calls, failed, tools)
	if files < 38 {
		t.Errorf("%d files of go-vcr's format, want the corpus's 38", files)
	}
}

func covered(format string, families []string) bool {
	if format != "go-vcr-v2" && format != "go-vcr-v1" || len(families) == 0 {
		return false
	}
	return !slices.ContainsFunc(families, func(name string) bool { return !slices.Contains(spoken, name) })
}

// canonical takes away what is spelling: the order of models, the white space of
// arguments, none or empty.
func (f *fact) canonical() {
	slices.Sort(f.Models)
	if len(f.StopReasons) == 0 {
		f.StopReasons = nil
	}
	if len(f.ToolCalls) == 0 {
		f.ToolCalls = nil
	}
	for i := range f.Calls {
		c := &f.Calls[i]
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

// facts are the oracle's rows for the files that we read.
func facts(t *testing.T, corpus string) []fact {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus, "FACTS.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []fact
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var head struct {
			Format   string   `json:"format"`
			Families []string `json:"families"`
		}
		var f fact
		if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
			t.Fatal(err)
		}
		if !covered(head.Format, head.Families) {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}
