package world_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/world"
)

// Runs whose effects are counted where others may change them take turns, the
// others do not.
func TestTurns(t *testing.T) {
	o := options()
	o.Shared = world.NewShared()
	defer o.Shared.Close()
	const ordering = "tools: [{name: order, effect: write, run: {http: {url: 'http://127.0.0.1:1/'}}}]\neffects:\n  order: "
	shared := parse(t, head+ordering+"{http: {url: 'http://127.0.0.1:1/count'}, pointer: /n}\nexpect: {effects: {order: 0}}\n")
	alone := parse(t, head+ordering+"{sql: {database: 'sqlite:${scratch}/shop.db', query: select 1}}\nexpect: {effects: {order: 0}}\n")
	first, err := world.Open(t.Context(), shared, o)
	if err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if second, err := world.Open(impatient, shared, o); !errors.Is(err, context.Canceled) {
		second.Close()
		t.Fatalf("a second run does not wait for the first: %v", err)
	}
	other, err := world.Open(impatient, alone, o)
	if err != nil {
		t.Fatalf("a run that shares nothing waits: %v", err)
	}
	other.Close()
	first.Close()

	var open atomic.Int32
	var runs sync.WaitGroup
	for range 8 {
		runs.Go(func() {
			w, err := world.Open(t.Context(), shared, o)
			if err != nil {
				t.Error(err)
				return
			}
			if n := open.Add(1); n > 1 {
				t.Errorf("%d at once", n)
			}
			open.Add(-1)
			w.Close()
		})
	}
	runs.Wait()
}

// A principal that is not let in leaves the question to the next; any other
// trouble is the server's.
func TestWhoAsksForTheTools(t *testing.T) {
	shop := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	mcp.AddTool(shop, &mcp.Tool{Name: "order"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
		return nil, nil, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return shop }, &mcp.StreamableHTTPOptions{Stateless: true})
	for _, tc := range []struct {
		why   string
		first int // status of what the first is answered
		asked []string
		ok    bool
	}{
		{"the first is let in", http.StatusOK, []string{"eve"}, true},
		{"the first is not let in", http.StatusUnauthorized, []string{"eve", "ann"}, true},
		{"the server is broken", http.StatusInternalServerError, []string{"eve"}, false},
	} {
		var mu sync.Mutex
		var asked []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			mu.Lock()
			if !slices.Contains(asked, name) {
				asked = append(asked, name)
			}
			mu.Unlock()
			if name == "eve" && tc.first != http.StatusOK {
				http.Error(w, "no", tc.first)
				return
			}
			handler.ServeHTTP(w, r)
		}))
		text := fmt.Sprintf("principals: {eve: {headers: {Authorization: Bearer eve}}, ann: {headers: {Authorization: Bearer ann}}}\nservers: {shop: {url: '%s'}}\ntools: {from: shop}\n", server.URL)
		got, err := open(t.Context(), parse(t, strings.Replace(head, "task: t\n", "turns: [{user: a, as: eve}, {user: b, as: ann}]\n", 1)+text))
		if (err == nil) != tc.ok || err != nil && failure.Of(err) != failure.World {
			t.Errorf("%s: %v", tc.why, err)
		}
		if err == nil {
			got.Close()
		}
		server.Close()
		mu.Lock()
		if diff := cmp.Diff(tc.asked, asked); diff != "" {
			t.Errorf("%s: who asked (-want +got):\n%s", tc.why, diff)
		}
		mu.Unlock()
	}
}
