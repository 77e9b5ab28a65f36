package cassette_test

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/tool"
)

// The example in the package comment is one that works.
func TestTheDocumentedToolsCassette(t *testing.T) {
	source, err := os.ReadFile("cassette.go")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for line := range strings.Lines(string(source)) {
		if rest, ok := strings.CutPrefix(line, "//\t"); ok {
			text.WriteString(rest)
		}
	}
	f, err := cassette.Read([]byte(text.String()), "cassettes/x/tools.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := cassette.NewToolPlayer(f, cassette.ToolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Execute(t.Context(), tool.Call{Tool: "get_weather", Args: jsontext.Value(`{"city": "London"}`)})
	if err != nil || r.Err != nil || !strings.Contains(r.Content, `"rain":true`) {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = p.Execute(t.Context(), tool.Call{Tool: "get_weather", Args: jsontext.Value(`{"city": "Atlantis"}`)})
	if err != nil || r.Err == nil || r.Err.Code != "NOT_FOUND" {
		t.Errorf("%+v, %v", r, err)
	}
}
