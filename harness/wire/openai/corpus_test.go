package openai_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openaichat"
	"github.com/retake-harness/retake/harness/wire/openairesponses"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// facts is what the corpus' oracle says of one file.
type facts struct {
	Path     string      `json:"path"`
	Format   string      `json:"format"`
	Families []string    `json:"families"`
	Calls    []factsCall `json:"calls"`
}

type factsCall struct {
	Family    string           `json:"family"`
	Status    int              `json:"status"`
	Stream    bool             `json:"stream"`
	Model     *string          `json:"model"`
	Stop      []jsontext.Value `json:"stop"` // other families have numbers here
	Tools     []factsTool      `json:"tools"`
	Input     *int64           `json:"input"`
	Output    *int64           `json:"output"`
	CacheRead *int64           `json:"cache_read"`
	Reasoning *int64           `json:"reasoning"`
	Error     *string          `json:"error"`
}

type factsTool struct {
	Name string  `json:"name"`
	ID   *string `json:"id"`
	Args string  `json:"args"`
}

// exchange is one recorded request and its answer.
type exchange struct {
	url, request, contentType, response string
	status                              int
}

func corpus(t *testing.T) (root string, all []facts) {
	t.Helper()
	root = os.Getenv("RETAKE_CORPUS")
	if root == "" {
		t.Skip("RETAKE_CORPUS names no folder of recorded traffic")
	}
	f, err := os.Open(filepath.Join(root, "FACTS.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var one facts
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return root, all
}

func codecOf(family string) wire.Codec {
	switch family {
	case "openai-chat":
		return openaichat.Codec{}
	case "openai-responses":
		return openairesponses.Codec{}
	}
	return nil
}

// goVCR reads a go-vcr cassette with go-vcr's own reader.
func goVCR(t *testing.T, file string) []exchange {
	t.Helper()
	c, err := cassette.Load(strings.TrimSuffix(file, ".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var out []exchange
	for _, i := range c.Interactions {
		out = append(out, exchange{i.Request.URL, i.Request.Body, i.Response.Headers.Get("Content-Type"), i.Response.Body, i.Response.Code})
	}
	return out
}

// otherVCR reads vcrpy's and Ruby VCR's cassettes, as far as their bodies are
// text; "" stands for a body that is not.
func otherVCR(t *testing.T, file string) []exchange {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Interactions     []yaml.Node `yaml:"interactions"`
		HTTPInteractions []yaml.Node `yaml:"http_interactions"`
	}
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Logf("%s: %v", file, err)
		return nil
	}
	var out []exchange
	for _, n := range append(doc.Interactions, doc.HTTPInteractions...) {
		request, response := at(&n, "request"), at(&n, "response")
		e := exchange{url: text(at(request, "uri")), request: body(request), response: body(response), status: 200}
		headers := at(response, "headers")
		for _, name := range []string{"Content-Type", "content-type"} {
			if h := at(headers, name); h != nil && len(h.Content) > 0 {
				e.contentType = h.Content[0].Value
			}
		}
		if code := at(at(response, "status"), "code"); code != nil {
			_ = code.Decode(&e.status)
		}
		out = append(out, e)
	}
	return out
}

func at(n *yaml.Node, name string) *yaml.Node {
	if n == nil {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

func text(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	if strings.HasSuffix(n.Tag, "!binary") { // Ruby writes !binary, Python !!binary
		data, _ := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), ""))
		return string(data)
	}
	return n.Value
}

func body(n *yaml.Node) string {
	if b := at(n, "body"); b != nil && b.Kind == yaml.MappingNode {
		return text(at(b, "string"))
	} else if b != nil {
		return text(b)
	}
	var out []byte
	if parsed := at(n, "parsed_body"); parsed != nil { // pydantic-ai's form
		var v any
		if parsed.Decode(&v) == nil {
			out, _ = json.Marshal(v)
		}
	}
	return string(out)
}

// isModelCall tells the requests that the oracle counts.
func isModelCall(url string) bool {
	path, _, _ := strings.Cut(url, "?")
	return strings.HasSuffix(path, "/chat/completions") || strings.HasSuffix(path, "/responses")
}

func TestRecordedCalls(t *testing.T) {
	root, all := corpus(t)
	files, calls := 0, 0
	for _, f := range all {
		if f.Format != "go-vcr-v2" || !onlyOurs(f.Families) {
			continue
		}
		files++
		t.Run(f.Path, func(t *testing.T) {
			calls += compare(t, f, goVCR(t, filepath.Join(root, f.Path)))
		})
	}
	if files == 0 || calls == 0 {
		t.Errorf("%d files with %d calls: the corpus is not where RETAKE_CORPUS says", files, calls)
	}
	t.Logf("%d files, %d calls", files, calls)
}

// TestForeignRecordings reads what other recorders wrote, where the oracle's
// calls can be told from the rest.
func TestForeignRecordings(t *testing.T) {
	root, all := corpus(t)
	calls := 0
	for _, f := range all {
		if (f.Format != "vcrpy-yaml" && f.Format != "ruby-vcr-yaml") || !onlyOurs(f.Families) {
			continue
		}
		t.Run(f.Path, func(t *testing.T) {
			calls += compare(t, f, otherVCR(t, filepath.Join(root, f.Path)))
		})
	}
	t.Logf("%d calls", calls)
}

func onlyOurs(families []string) bool {
	return len(families) > 0 && !slices.ContainsFunc(families, func(s string) bool { return codecOf(s) == nil })
}

// compare holds a file's model calls against the oracle's, one by one, and
// counts them. Calls whose body is
// compressed, or so large that a diff takes long, are passed over.
func compare(t *testing.T, f facts, exchanges []exchange) (n int) {
	t.Helper()
	exchanges = slices.DeleteFunc(exchanges, func(e exchange) bool { return !isModelCall(e.url) })
	if len(exchanges) != len(f.Calls) {
		t.Skipf("%d requests to a model, the oracle has %d", len(exchanges), len(f.Calls))
	}
	for i, want := range f.Calls {
		e := exchanges[i]
		if e.response == "" || !utf8.ValidString(e.response) || len(e.response) > 1<<20 {
			continue
		}
		n++
		c := codecOf(want.Family)
		request(t, c, e)
		r, err := c.DecodeResponse(e.status, e.contentType, []byte(e.response))
		if err != nil {
			t.Errorf("call %d: %v", i+1, err)
			continue
		}
		if diff := cmp.Diff(normal(want), told(want, r), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("call %d (-oracle +codec):\n%s", i+1, diff)
		}
		again(t, c, r)
	}
	return n
}

// request is decoded, encoded and decoded again.
func request(t *testing.T, c wire.Codec, e exchange) {
	t.Helper()
	if e.request == "" || !jsontext.Value(e.request).IsValid() {
		return
	}
	q, err := c.DecodeRequest("", []byte(e.request))
	if err != nil {
		t.Error(err)
		return
	}
	body, err := c.EncodeRequest(nil, q)
	if err != nil {
		t.Error(err)
		return
	}
	back, err := c.DecodeRequest("", body)
	if err != nil {
		t.Error(err)
		return
	}
	if reflect.DeepEqual(q, back) {
		return // a diff over an image takes seconds
	}
	if diff := cmp.Diff(q, back, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("request reads differently (-first +again):\n%s", diff)
	}
}

// again writes the answer in both forms and reads it back.
func again(t *testing.T, c wire.Codec, r *wire.Response) {
	t.Helper()
	if len(r.Problems) > 0 || r.Err != nil {
		return
	}
	for _, stream := range []bool{false, true} {
		body, err := c.EncodeResponse(nil, r, stream)
		if err != nil {
			t.Error(err)
			continue
		}
		back, err := c.DecodeResponse(200, "", body)
		if err != nil {
			t.Error(err)
			continue
		}
		same := *back
		same.Streamed, same.Extra = r.Streamed, r.Extra
		if reflect.DeepEqual(*r, same) {
			continue
		}
		if diff := cmp.Diff(r, back, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(wire.Response{}, "Streamed", "Extra")); diff != "" {
			t.Errorf("answer (stream %v) reads differently (-first +again):\n%s\n%s", stream, diff, bytes.TrimSpace(body))
		}
	}
}

// outcome is what is compared.
type outcome struct {
	Model  string
	Stop   []string
	Tools  []string
	Tokens []int64 // input, output, cache read, reasoning; -1 for none
	Failed bool
}

func tokens(figures ...*int64) (out []int64) {
	for _, n := range figures {
		if n == nil {
			out = append(out, -1)
			continue
		}
		out = append(out, *n)
	}
	return out
}

func normal(c factsCall) outcome {
	o := outcome{Tokens: tokens(c.Input, c.Output, c.CacheRead, c.Reasoning), Failed: c.Error != nil}
	if c.Model != nil {
		o.Model = *c.Model
	}
	for _, word := range c.Stop {
		o.Stop = append(o.Stop, rawjson.TextOf(word))
	}
	for _, tool := range c.Tools {
		id := ""
		if tool.ID != nil {
			id = *tool.ID
		}
		o.Tools = append(o.Tools, tool.Name+" "+id+" "+canonical(tool.Args))
	}
	return o
}

func told(want factsCall, r *wire.Response) outcome {
	u := r.Reported
	o := outcome{Model: r.Model, Stop: r.RawStop, Tokens: tokens(u.Input, u.Output, u.CacheRead, u.Reasoning), Failed: r.Err != nil}
	if o.Model == "" || want.Model == nil {
		o.Model = normal(want).Model // the request's, or not told
	}
	for i, b := range r.Calls() {
		args := string(b.Args)
		if b.Args == nil {
			args = b.ArgsText
		}
		if i < len(want.Tools) && strings.HasPrefix(want.Tools[i].Args, "sha256:") {
			args = want.Tools[i].Args
		}
		o.Tools = append(o.Tools, b.Name+" "+b.ID+" "+canonical(args))
	}
	return o
}

func canonical(args string) string {
	v := jsontext.Value(args)
	if v.Canonicalize() != nil {
		return args
	}
	return string(v)
}
