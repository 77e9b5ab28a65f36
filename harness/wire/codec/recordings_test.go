package codec_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v4"

	"github.com/retake-harness/retake/harness/internal/corpus"
	"github.com/retake-harness/retake/harness/wire"
)

// yamlFormats are the formats of recordings that document reads; a file in one
// of bareFormats is the body of an answer.
var (
	yamlFormats = map[string]bool{"go-vcr-v2": true, "go-vcr-v1": true, "vcrpy-yaml": true, "ruby-vcr-yaml": true}
	bareFormats = map[string]bool{"raw-json": true, "raw-sse": true, "wiremock-body-raw-json": true, "wiremock-body-raw-sse": true}
)

// readable tells whether this test reads the file's format.
func readable(f *corpus.File) bool { return yamlFormats[f.Format] || bareFormats[f.Format] }

// exchange is one recorded request with its answer.
type exchange struct {
	method, url string
	request     []byte
	status      int
	contentType string
	response    []byte
}

// document is what the formats have in common.
type document struct {
	Interactions     []interaction `yaml:"interactions"`
	HTTPInteractions []interaction `yaml:"http_interactions"`
}

type interaction struct {
	Request struct {
		Body   body   `yaml:"body"`
		Parsed parsed `yaml:"parsed_body"`
		Method string `yaml:"method"`
		URL    string `yaml:"url"`
		URI    string `yaml:"uri"`
	} `yaml:"request"`
	Response struct {
		Body    body                `yaml:"body"`
		Parsed  parsed              `yaml:"parsed_body"`
		Code    int                 `yaml:"code"`
		Status  yaml.Node           `yaml:"status"`
		Headers map[string][]string `yaml:"headers"`
	} `yaml:"response"`
}

// body is a text, an object with a text named string, or base64 of either.
type body string

func (b *body) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			switch n.Content[i].Value {
			case "string":
				return b.UnmarshalYAML(n.Content[i+1])
			case "base64_string":
				return b.base64(n.Content[i+1].Value)
			}
		}
		return nil
	}
	if n.Tag == "!binary" {
		return b.base64(n.Value)
	}
	var s string
	err := n.Decode(&s)
	*b = body(s)
	return err
}

func (b *body) base64(s string) error {
	text, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
	*b = body(text)
	return err
}

// parsed is a body that was recorded as YAML instead of JSON.
type parsed []byte

func (p *parsed) UnmarshalYAML(n *yaml.Node) error {
	var v any
	err := n.Decode(&v)
	if err == nil {
		*p, err = json.Marshal(v, json.Deterministic(true))
	}
	return err
}

func exchanges(t *testing.T, file string) []exchange {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Logf("%s: skipped, it is not read by this test: %v", file, err)
		return nil
	}
	var out []exchange
	for _, i := range append(d.Interactions, d.HTTPInteractions...) {
		out = append(out, i.exchange())
	}
	return out
}

func (i *interaction) exchange() exchange {
	e := exchange{method: i.Request.Method, url: i.Request.URL + i.Request.URI, request: plain([]byte(i.Request.Body)), response: plain([]byte(i.Response.Body))}
	if i.Request.Parsed != nil {
		e.request = i.Request.Parsed
	}
	if i.Response.Parsed != nil {
		e.response = i.Response.Parsed
	}
	e.status = i.Response.Code
	if e.status == 0 {
		var s struct {
			Code int `yaml:"code"`
		}
		if i.Response.Status.Decode(&s) == nil {
			e.status = s.Code
		}
	}
	for _, name := range []string{"Content-Type", "content-type"} {
		if v := i.Response.Headers[name]; len(v) > 0 {
			e.contentType = v[0]
		}
	}
	return e
}

// plain unpacks what was recorded as it was sent.
func plain(b []byte) []byte {
	if !bytes.HasPrefix(b, []byte("\x1f\x8b")) {
		return b
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return b
	}
	out, err := io.ReadAll(r)
	if err != nil {
		return b
	}
	return out
}

// told is a decoded answer in the words of the facts.
func told(family wire.API, r *wire.Response) corpus.Call {
	c := corpus.Call{
		Family: string(family), Stream: r.Streamed, Model: text(r.Model), Stop: r.RawStop,
		Input: r.Reported.Input, Output: r.Reported.Output, CacheRead: r.Reported.CacheRead, CacheWrite: r.Reported.CacheWrite, Reasoning: r.Reported.Reasoning,
	}
	if r.Err != nil {
		c.Error = new(failed)
	}
	for _, b := range r.Calls() {
		args := b.ArgsText
		if b.Args != nil {
			args = string(b.Args)
		}
		c.Tools = append(c.Tools, corpus.Tool{Name: b.Name, ID: text(b.ID), Args: args})
	}
	return c
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
