package main

import (
	"context"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The test's own binary is the client that the suite runs: it names its scenario in
// the environment.
func TestMain(m *testing.M) {
	if os.Getenv("MCP_CONFORMANCE_SCENARIO") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// RETAKE_CONFORMANCE is the command of the suite, its words between spaces.
func TestConformance(t *testing.T) {
	suite := strings.Fields(os.Getenv("RETAKE_CONFORMANCE"))
	if len(suite) == 0 {
		t.Skip("the conformance suite is not here; with node 22: RETAKE_CONFORMANCE='npx -y @modelcontextprotocol/conformance@0.2.0-alpha.12'")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(suite[1:], "client", "--suite", "all", "--command", self,
		"--expected-failures", "baseline.yaml", "--timeout", "10000", "--output-dir", t.TempDir())
	out, err := exec.CommandContext(t.Context(), suite[0], args...).CombinedOutput()
	_, summary, ok := strings.Cut(string(out), "=== SUITE SUMMARY ===")
	if !ok {
		t.Fatalf("%v: the suite did not come to its end:\n%s", err, out)
	}
	if err != nil {
		t.Errorf("%v: what fails is not what baseline.yaml expects:\n%s", err, summary)
	}
}

// What the suite may ask for, of a server of our own.
func TestRun(t *testing.T) {
	const focal = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"n":{"$anchor":"n","type":"number"}},"properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a"],"additionalProperties":false}`
	for _, tc := range []struct {
		why, told string
		want      []string
	}{
		{"each tool once, and a schema word for word", "", []string{
			`add {"a":5}`, `echo {"schema":` + focal + `}`, "read test://first",
		}},
		{"what the suite tells, and no more", `{"toolCalls":[{"name":"add","arguments":{"a":1,"b":null}}]}`, []string{
			`add {"a":1,"b":null}`, "read test://first",
		}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var heard []string
			url := serve(t, focal, func(text string) { heard = append(heard, text) })
			getenv := func(name string) string {
				return map[string]string{"MCP_CONFORMANCE_CONTEXT": tc.told}[name]
			}
			if err := run(t.Context(), []string{"--flag", url}, getenv, log.New(t.Output(), "", 0)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, heard); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func serve(tb testing.TB, focal string, hear func(string)) (url string) {
	tb.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	for name, schema := range map[string]string{
		"add":  focal,
		"echo": `{"type":"object","properties":{"schema":{"type":"object"}},"required":["schema"]}`,
	} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: jsontext.Value(schema)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			hear(name + " " + string(r.Params.Arguments))
			return &mcp.CallToolResult{}, nil
		})
	}
	s.AddResource(&mcp.Resource{URI: "test://first", Name: "first"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		hear("read " + r.Params.URI)
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "one"}}}, nil
	})
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	tb.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return h.URL
}

func TestRunFails(t *testing.T) {
	for _, tc := range []struct {
		why, told string
		args      []string
		want      string
	}{
		{"no address", "", nil, "the suite gives the server's address as the last argument"},
		{"what is told is no JSON", "{", []string{"http://127.0.0.1:1"}, "MCP_CONFORMANCE_CONTEXT"},
	} {
		err := run(t.Context(), tc.args, func(string) string { return tc.told }, log.New(t.Output(), "", 0))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.why, err, tc.want)
		}
	}
}
