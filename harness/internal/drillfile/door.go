package drillfile

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// door is what guards the drilled tool: the headers that are sent along; nil where
// nothing is.
func (t *Target) door() []tool.Setting {
	var own []tool.Setting
	switch {
	case t.place.Server != "" && t.servers[t.place.Server].URL != "":
		own = t.servers[t.place.Server].Headers
	case t.place.HTTP != nil:
		own = t.place.HTTP.Headers
	default:
		return nil
	}
	if p := t.principal(""); p != nil {
		own = slices.Concat(own, p.Headers)
	}
	return own
}

// first is what a client says to an MCP server before anything else.
const first = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"retake","version":"1"}}}`

// wrong is a token that nobody has.
const wrong = "retake-wrong-token"

// Knock sends a request of its own, without the headers or with a wrong value in
// each.
func (s *state) Knock(ctx context.Context, what drill.Token) (int, error) {
	address, body := s.address, first
	if h := s.target.place.HTTP; h != nil {
		address, _, _ = strings.Cut(h.URL, "{")
		body = "{}"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return 0, failure.Errorf(failure.ScenarioInvalid, "%s: %w", s.target.file, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range s.target.door() {
		if what == drill.WrongToken {
			req.Header.Set(h.Name, prefix(h)+wrong)
		}
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return 0, failure.Errorf(failure.World, "a request with %s: %w", what, err)
	}
	return res.StatusCode, res.Body.Close()
}

// prefix is what stands before a header's secret, like Bearer.
func prefix(h tool.Setting) string {
	if h.Env != "" {
		return h.Value
	}
	if scheme, _, two := strings.Cut(h.Value, " "); two {
		return scheme + " "
	}
	return ""
}
