package drillfile

import (
	"context"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/world"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/httptool"
)

// door is what guards the drilled tool: the credentials that are sent along; none where
// nothing guards it.
func (t *Target) door() []tool.Setting {
	out := slices.DeleteFunc(slices.Clone(t.headers()), harmless)
	if p := t.principal(""); p != nil && t.headed() {
		out = append(out, p.Headers...)
	}
	return out
}

// headers are those that the drilled tool's place has.
func (t *Target) headers() []tool.Setting {
	if t.place.HTTP != nil {
		return t.place.HTTP.Headers
	}
	return t.servers[t.place.Server].Headers
}

// headed tells whether calls of the drilled tool have headers.
func (t *Target) headed() bool {
	return t.place.HTTP != nil || t.servers[t.place.Server].URL != ""
}

var credential = regexp.MustCompile(`(?i)auth|token|cookie|secret|password|credential|session|api-?key|signature`)

// harmless tells whether the header lets nobody in: it is no secret, and is not named
// like one.
func harmless(h tool.Setting) bool { return h.Env == "" && !credential.MatchString(h.Name) }

// first is what a client says to an MCP server before anything else.
const first = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"retake","version":"1"}}}`

// wrong is a token that nobody has.
const wrong = "retake-wrong-token"

// Knock makes the drilled tool's call, or greets its server, without the credentials
// or with a wrong value in each. All else is as it should be, so that nothing but the
// credentials can be what is refused.
func (s *state) Knock(ctx context.Context, what drill.Token) (int, error) {
	headers := slices.DeleteFunc(slices.Clone(s.target.headers()), func(h tool.Setting) bool { return !harmless(h) })
	if what == drill.WrongToken {
		for _, h := range s.target.door() {
			headers = append(headers, tool.Setting{Name: h.Name, Value: prefix(h) + wrong})
		}
	}
	req, err := s.request(ctx, headers)
	if err != nil {
		return 0, failure.Errorf(failure.ScenarioInvalid, "%s: a request with %s: %w", s.target.file, what, err)
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

func (s *state) request(ctx context.Context, headers []tool.Setting) (*http.Request, error) {
	e := httptool.Endpoint{URL: s.address, Headers: append(headers, tool.Setting{Name: "Accept", Value: "application/json, text/event-stream"})}
	args := jsontext.Value(first)
	if h := s.target.place.HTTP; h != nil {
		var err error
		if args, err = s.example(); err != nil {
			return nil, err
		}
		e = httptool.Endpoint{Method: h.Method, URL: h.URL, Headers: headers, Key: s.target.key}
	}
	x, err := httptool.New(e, s.target.options.Getenv)
	if err != nil {
		return nil, err
	}
	req, bad := x.Request(ctx, tool.Call{Args: args})
	if bad != nil {
		return nil, failure.Errorf(failure.ScenarioInvalid, "the drill's args do not fit the address: %s", bad.Message)
	}
	return req, nil
}

// example are arguments that the drilled tool accepts, with a key of their own and
// the id of a draft that is not there.
func (s *state) example() (jsontext.Value, error) {
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(world.InScratch(s.target.args, s.scratch), &members); err != nil {
		return nil, err
	}
	if k := s.target.key; k != nil {
		members[k.Field] = jsontext.Value(`"` + filepath.Base(s.scratch) + `"`)
	}
	if d := s.target.draft; d != "" {
		members[d] = jsontext.Value(`"retake-no-draft"`)
	}
	return json.Marshal(members, json.Deterministic(true))
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
