package giftgenius

import (
	"context"
	_ "embed"
	"encoding/json"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Version is the shop's, as it tells it to clients.
const Version = "1.0.0"

// WidgetURI names the widget with its version: hosts keep the HTML that they have
// read, so a changed widget is a new name.
const WidgetURI = "ui://giftgenius/gifts-v1.html"

const (
	widgetMIME        = "text/html;profile=mcp-app"
	widgetDomain      = "https://giftgenius.example"
	widgetDescription = "Shows suggested gifts with their prices, why there are none, or what to do after an error."
)

//go:embed widget/gifts-v1.html
var widget string

// NewServer is the shop as an MCP server. Calls that carry no token are those of
// tenant; over HTTP they come with one (see [Handle]).
func NewServer(s *Shop, tenant string, log *slog.Logger) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "giftgenius", Title: "GiftGenius", Version: Version}, &mcp.ServerOptions{
		Instructions: "A shop for gifts. Prices are in euro cents. Nothing is bought before the user has confirmed it: prepare_order shows the price, commit_order buys.",
		Logger:       log,
	})
	for _, t := range s.Tools() {
		server.AddTool(&t.Tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return s.Call(ctx, tenantOf(req, tenant), t, req.Params.Arguments).result(), nil
		})
	}
	server.AddResource(&mcp.Resource{
		URI: WidgetURI, Name: "gifts", Title: "Suggested gifts", Description: widgetDescription, MIMEType: widgetMIME, Meta: widgetMeta(),
	}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
			{URI: WidgetURI, MIMEType: widgetMIME, Text: s.mistakes.plantWidget(widget), Meta: widgetMeta()},
		}}, nil
	})
	return server
}

func tenantOf(req *mcp.CallToolRequest, otherwise string) string {
	if req.Extra != nil && req.Extra.TokenInfo != nil {
		return req.Extra.TokenInfo.UserID
	}
	return otherwise
}

// result says the same twice: as text for the model, and as structure for hosts.
func (r Reply) result() *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: r.IsError, Content: []mcp.Content{&mcp.TextContent{Text: r.Text}}}
	if json.Valid([]byte(r.Text)) {
		out.StructuredContent = json.RawMessage(r.Text)
	}
	return out
}

// widgetMeta says what the widget may do: it loads and calls nothing from
// elsewhere. Hosts read the one or the other set of names.
func widgetMeta() mcp.Meta {
	return mcp.Meta{
		"ui": map[string]any{
			"csp": map[string]any{
				"connectDomains": []string{}, "resourceDomains": []string{}, "frameDomains": []string{}, "baseUriDomains": []string{},
			},
			"domain": widgetDomain, "prefersBorder": true,
		},
		"openai/widgetCSP":           map[string]any{"connect_domains": []string{}, "resource_domains": []string{}, "frame_domains": []string{}},
		"openai/widgetDomain":        widgetDomain,
		"openai/widgetPrefersBorder": true,
		"openai/widgetDescription":   widgetDescription,
	}
}
