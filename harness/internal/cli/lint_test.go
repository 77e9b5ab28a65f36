package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/internal/drillfile/drilltest"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
)

// The test's own binary plays the MCP server that the scripts lint; SHOP=bare has
// it answer with exceptions.
func TestMain(m *testing.M) {
	processtest.Main(m, map[string]func(){"asks": asks, "orders": drilltest.Main, "chromium": chromium, "shop": func() {
		if os.Getenv("SHOP") == "fails" {
			fmt.Fprintln(os.Stderr, "no database")
			os.Exit(2)
		}
		if err := shop().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
	}})
}

const shopPage = `<main data-state="loading"><p data-state="results" data-bind="gift"></p><p data-state="empty"></p><p data-state="error"></p></main>`

func shop() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	no := false
	s.AddTool(&mcp.Tool{
		Name: "find_gift", Description: "Finds a gift for a person.",
		InputSchema:  jsontext.Value(`{"type":"object","properties":{"person":{"type":"string"}},"required":["person"],"additionalProperties":false}`),
		OutputSchema: jsontext.Value(`{"type":"object","properties":{"ok":{"type":"boolean"},"gift":{"type":"string"}}}`),
		Annotations:  &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no, OpenWorldHint: &no},
		Meta:         mcp.Meta{"ui": map[string]any{"resourceUri": "ui://shop/gift-v1.html"}},
	}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if string(r.Params.Arguments) == `{"person":"probe"}` {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: `{"ok":true}`}}}, nil
		}
		text := `{"ok":false,"error":{"code":"VALIDATION_ERROR","message":"person is a text, and there is no retake_probe","retryable":false}}`
		if os.Getenv("SHOP") == "bare" {
			text = "KeyError: 'person'"
		}
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	})
	s.AddResource(&mcp.Resource{
		URI: "ui://shop/gift-v1.html", Name: "gift", Description: "The gift.", MIMEType: "text/html;profile=mcp-app",
		Meta: mcp.Meta{"ui": map[string]any{"csp": map[string]any{"connectDomains": []string{}}, "domain": "https://shop.example", "prefersBorder": false}},
	}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "ui://shop/gift-v1.html", Text: shopPage + os.Getenv("PAGE")}}}, nil
	})
	return s
}

// chromium plays a browser that sees the same, whatever it is given.
func chromium() {
	for _, arg := range os.Args {
		name, ok := strings.CutPrefix(arg, "--screenshot=")
		if !ok {
			continue
		}
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1830, 900))); err != nil {
			os.Exit(1)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			os.Exit(1)
		}
	}
	const view = `{"looked":true,"started":true,"text":"Gift 1. Ask again, it is undefined","texts":[{"text":"Ask again later"}],"width":`
	fmt.Print(`<!doctype html><html><body><pre id="retake" hidden>[` + view + `390},` + view + `1440}]</pre></body></html>`)
}
