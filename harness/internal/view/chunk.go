package view

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/report"
)

// mostEntries and mostBytes end a chunk: it is what the page takes apart to show
// one scenario.
const (
	mostEntries = 256
	mostBytes   = 512 << 10
)

func chunkID(n int) string { return fmt.Sprintf("chunk-%d", n) }

// chunk holds entries with their transcripts; equal ones are there once.
type chunk struct {
	Entries []*report.Entry `json:"entries"`
	Text    []int           `json:"text"` // of each entry: the number of its transcript, -1 for none
	Texts   []string        `json:"texts"`

	numbers map[string]int
	size    int
}

func (c *chunk) add(e *report.Entry, text string) {
	c.Entries = append(c.Entries, e)
	c.size += 1000 + 400*(len(e.Models)+len(e.Tools))
	for i := range e.Reasons {
		c.size += len(e.Reasons[i].What) + len(e.Reasons[i].Diff)
	}
	if text == "" {
		c.Text = append(c.Text, -1)
		return
	}
	if c.numbers == nil {
		c.numbers = map[string]int{}
	}
	n, ok := c.numbers[text]
	if !ok {
		n = len(c.Texts)
		c.numbers[text], c.Texts = n, append(c.Texts, text)
		c.size += len(text)
	}
	c.Text = append(c.Text, n)
}

func (c *chunk) full() bool { return len(c.Entries) >= mostEntries || c.size >= mostBytes }

// packed is a value as JSON, compressed, in base64. Text that is no UTF-8 is
// mended, since a script cannot read it otherwise.
func packed(v any) (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err == nil {
		err = json.MarshalWrite(z, v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), json.FormatNilSliceAsNull(false))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return "", failure.Errorf(failure.Internal, "the viewer's page: a report cannot be put into it: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
