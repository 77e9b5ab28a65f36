// Package corpus reads, for tests, a folder of other people's recorded traffic
// that is no part of this repository, and what another program has counted in
// it: the oracle that our own readers are held against.
package corpus

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
)

// Variable is the environment variable that names the folder.
const Variable = "RETAKE_CORPUS"

// Corpus is the folder with the facts about its recordings.
type Corpus struct {
	Folder string
	Files  []File // in the oracle's order; only those with a call of the four APIs
}

// File is what was counted in one recording. null was never reported.
type File struct {
	Path        string   `json:"path"` // below the folder, with slashes
	Format      string   `json:"format"`
	Families    []string `json:"families"` // the APIs of its calls
	ModelCalls  int      `json:"model_calls"`
	Failed      int      `json:"model_calls_failed"`
	ToolCalls   []string `json:"tool_calls"`
	ParallelMax int      `json:"parallel_max"`
	StopReasons Words    `json:"stop_reasons"`
	Input       *int64   `json:"input_tokens"`
	Output      *int64   `json:"output_tokens"`
	CacheRead   *int64   `json:"cache_read_tokens"`
	CacheWrite  *int64   `json:"cache_write_tokens"`
	Reasoning   *int64   `json:"reasoning_tokens"`
	Models      []string `json:"models"`
	Calls       []Call   `json:"calls"`
}

// Call is one model call.
type Call struct {
	Family     string  `json:"family"`
	Status     int     `json:"status"`
	Stream     bool    `json:"stream"`
	Model      *string `json:"model"`
	Stop       Words   `json:"stop"`
	Tools      []Tool  `json:"tools"`
	Input      *int64  `json:"input"`
	Output     *int64  `json:"output"`
	CacheRead  *int64  `json:"cache_read"`
	CacheWrite *int64  `json:"cache_write"`
	Reasoning  *int64  `json:"reasoning"`
	Error      *string `json:"error"`
	TextChars  int     `json:"text_chars"`
	Results    int     `json:"tool_results_in_request"`
}

// Tool is a tool call: arguments as they came, or the hash of long ones.
type Tool struct {
	Name string  `json:"name"`
	ID   *string `json:"id"`
	Args string  `json:"args"`
}

// Words are texts. Where an API has numbers for words, they are taken as written.
type Words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *Words) UnmarshalJSON(b []byte) error {
	var list []jsontext.Value
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	for _, v := range list {
		text := string(v)
		if v.Kind() == '"' {
			if err := json.Unmarshal(v, &text); err != nil {
				return err
			}
		}
		*w = append(*w, text)
	}
	return nil
}

// Open reads the facts. Where no folder is named it skips the test, which says
// so.
func Open(tb testing.TB, getenv func(string) string) *Corpus {
	tb.Helper()
	folder := getenv(Variable)
	if folder == "" {
		tb.Skip(Variable + " does not name the folder of the corpus; its recordings are not part of this repository")
	}
	text, err := os.ReadFile(filepath.Join(folder, "FACTS.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	c := &Corpus{Folder: folder}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if f, ok := row(tb, lines.Bytes()); ok {
			c.Files = append(c.Files, f)
		}
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return c
}

// row reads one line; false when no call is of the four APIs: other rows have
// members of other types.
func row(tb testing.TB, line []byte) (f File, ok bool) {
	tb.Helper()
	var head struct {
		Families []string `json:"families"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		tb.Fatal(err)
	}
	if !slices.ContainsFunc(head.Families, spoken) {
		return f, false
	}
	if err := json.Unmarshal(line, &f); err != nil {
		tb.Fatal(err)
	}
	return f, true
}

// Join is the path of a file of the corpus.
func (c *Corpus) Join(f *File) string { return filepath.Join(c.Folder, filepath.FromSlash(f.Path)) }

// Is tells whether the path ends with the name, which may have folders.
func (f *File) Is(name string) bool { return strings.HasSuffix(f.Path, "/"+name) }

// GoVCR tells whether the file is a cassette of go-vcr's, of either version,
// whose calls are all of the four APIs.
func (f *File) GoVCR() bool {
	return strings.HasPrefix(f.Format, "go-vcr-v") && !slices.ContainsFunc(f.Families, func(name string) bool { return !spoken(name) })
}

// Foreign tells whether the file is in one of the formats of other recorders that
// package foreign reads, and has calls of the four APIs.
func (f *File) Foreign() bool {
	switch f.Format {
	case "vcrpy-yaml", "vcrpy-split-yaml.gz", "ruby-vcr-yaml", "httprr", "httprr.gz", "polly-har", "polly-har-yaml", "json-req-resp",
		"raw-sse", "raw-json", "wiremock-body-raw-json", "wiremock-body-raw-sse":
		return true
	}
	return false
}

func spoken(family string) bool {
	switch wire.API(family) {
	case wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses, wire.GeminiGenerate:
		return true
	default:
		return false
	}
}
