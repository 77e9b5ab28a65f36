package giftgenius

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where the shop answers over HTTP.
const Path = "/mcp"

// Tokens say which tenant a bearer token stands for.
type Tokens map[[sha256.Size]byte]string

// Add adds tokens, written as TENANT=TOKEN, several with commas between.
func (t Tokens) Add(list string) error {
	for pair := range strings.SplitSeq(list, ",") {
		tenant, token, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || tenant == "" || token == "" {
			return fmt.Errorf("a token is written TENANT=TOKEN, several with commas between")
		}
		t[sha256.Sum256([]byte(token))] = tenant
	}
	return nil
}

// tenant finds a token's tenant, in a time that tells nothing of the tokens.
func (t Tokens) tenant(token string) (tenant string, found bool) {
	sum := sha256.Sum256([]byte(token))
	for known, of := range t {
		if subtle.ConstantTimeCompare(sum[:], known[:]) == 1 {
			tenant, found = of, true
		}
	}
	return tenant, found
}

// Handle serves the MCP server over streamable HTTP at Path. Where there are
// tokens, a request without a known one is answered 401 before it reaches the
// protocol; without tokens every request is that of the server's own tenant.
func Handle(server *mcp.Server, tokens Tokens) http.Handler {
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true})
	if len(tokens) > 0 {
		h = auth.RequireBearerToken(func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
			tenant, ok := tokens.tenant(token)
			if !ok {
				return nil, auth.ErrInvalidToken
			}
			return &auth.TokenInfo{UserID: tenant}, nil
		}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h)
	}
	mux := http.NewServeMux()
	mux.Handle(Path, h)
	return mux
}
