package drillfile_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/internal/drillfile"
	"github.com/retake-harness/retake/harness/tool"
)

// What can be done to a tool is what its own place allows.
func TestAbilities(t *testing.T) {
	const (
		hooked  = `shop: {command: [s, '${scratch}'], hooks: {points: [after_effect], clock: true, fail: [payment]}}`
		bare    = `shop: {command: [s, '${scratch}']}`
		address = `shop: {url: 'http://h/', headers: {Authorization: x}}`
		probe   = `    effects: {tool: count, mcp: other, pointer: /n}` + "\n"
		rest    = "    tool: order\n    args: {sku: a}\n"
	)
	all := drill.Abilities{Restart: true, Kill: true, Clock: true, Points: []drill.Point{drill.AfterEffect}, Fail: []string{"payment"}}
	for _, tc := range []struct {
		why, servers, drill string
		want                drill.Abilities
	}{
		{"a program with hooks", hooked + ", other: {command: [o]}", "    run: {mcp: shop}\n", all},
		{"whose probe's server runs elsewhere", hooked + ", other: {url: 'http://o/'}", "    run: {mcp: shop}\n", all},
		{
			"only the probe's server has hooks", bare + ", other: {command: [o], hooks: {points: [after_effect], clock: true, fail: [payment]}}", "    run: {mcp: shop}\n",
			drill.Abilities{Restart: true, Kill: true},
		},
		{
			"two programs may run at once", bare + ", other: {command: [o]}", "    run: {mcp: shop}\n    together: true\n",
			drill.Abilities{Restart: true, Kill: true, Together: true},
		},
		{
			"a server that somebody else runs", address + ", other: {command: [o, '${scratch}'], hooks: {clock: true}}", "    run: {mcp: shop}\n    keeps_state: true\n",
			drill.Abilities{Together: true, Entrance: true},
		},
		{"an endpoint without a token", "other: {command: [o]}", "    run: {http: {url: 'http://h/', headers: {X-Version: '2'}}}\n", drill.Abilities{Remembers: true, Together: true}},
		{"one with a token", "other: {command: [o]}", "    run: {http: {url: 'http://h/', headers: {X-Api-Key: k}}}\n", drill.Abilities{Remembers: true, Together: true, Entrance: true}},
		{"a command that keeps nothing", "other: {command: [o]}", "    run: {command: [c]}\n", drill.Abilities{Remembers: true, Together: true}},
		{"one with a file", "other: {command: [o]}", "    run: {command: [c, '${scratch}/f']}\n", drill.Abilities{Restart: true, Kill: true, Together: true}},
	} {
		for range 5 { // servers have no order
			got := load(t, "servers: {"+tc.servers+"}\ndrills:\n  order:\n"+rest+tc.drill+probe).Target().Can()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.why, diff)
				break
			}
		}
	}
}

// knock opens the target, as a drill does, and asks to be let in.
func knock(t *testing.T, text string, what drill.Token) int {
	t.Helper()
	w, err := load(t, text).Target().World(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	i, err := w.Open(t.Context(), drill.Start{})
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	status, err := w.(drill.Entrance).Knock(t.Context(), what)
	if err != nil {
		t.Errorf("a request with %s: %v", what, err)
	}
	return status
}

// An endpoint is asked as its tool asks it: nothing is wrong but the credentials.
func TestKnockAtAnEndpoint(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		key := r.Header.Get("Idempotency-Key")
		mu.Lock()
		asked = append(asked, strings.Join([]string{
			r.Method, r.URL.String(), r.Header.Get("X-Version"), strings.ReplaceAll(string(body), key, "KEY"), r.Header.Get("Authorization"), r.Header.Get("X-Tenant"),
		}, " "))
		mu.Unlock()
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	text := `principals: {ann: {headers: {X-Tenant: ann-secret}}}
drills:
  order:
    tool: order
    run: {http: {method: PUT, url: "` + server.URL + `/orders/{id}/of?draft={draft}", headers: {Authorization: Bearer t, X-Version: "2"}}}
    args: {id: 7, sku: A-17}
    key: {field: key}
    prepare: {tool: prepare, args: {}, from: /id, into: draft}
    places: {prepare: {command: [p]}}
    effects: {http: {url: "` + server.URL + `/count"}, pointer: /orders}
`
	for _, what := range []drill.Token{drill.NoToken, drill.WrongToken} {
		if got := knock(t, text, what); got != http.StatusUnauthorized {
			t.Errorf("with %s: %d", what, got)
		}
	}
	const request = `PUT /orders/7/of?draft=retake-no-draft 2 {"key":"KEY","sku":"A-17"} `
	want := []string{request + " ", request + "Bearer retake-wrong-token retake-wrong-token"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The door is that of the drilled tool's server, whatever else runs.
func TestKnockWhereTwoServersAre(t *testing.T) {
	over := shop(t, "", "-http", `"127.0.0.1:${port}"`) + `, url: "http://127.0.0.1:${port}/"}` + "\n" +
		strings.Replace(strings.TrimPrefix(shop(t, ""), "servers:\n"), "shop:", "other:", 1) + "}\n" +
		"principals: {ann: {headers: {Authorization: Bearer ann-token}}}\n" +
		strings.Replace(ordering, "effects: {sql: {database: \"sqlite:${scratch}/shop.db\", query: select count(*) from orders}}", "effects: {tool: orders, mcp: other, pointer: /orders}", 1)
	for range 6 { // servers have no order
		if got := knock(t, over, drill.NoToken); got != http.StatusUnauthorized {
			t.Fatalf("without a token: %d", got)
		}
	}
}

// An instance may be ended while calls are made on it.
func TestEndWhileCalling(t *testing.T) {
	w, err := load(t, `drills:
  order:
    tool: order
    run: {http: {url: "http://127.0.0.1:1/orders"}}
    args: {sku: A-17}
    places: {a: {http: {url: "http://127.0.0.1:1/a"}}, b: {http: {url: "http://127.0.0.1:1/b"}}}
    effects: {http: {url: "http://127.0.0.1:1/count"}, pointer: /orders}
`).Target().World(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	i, err := w.Open(t.Context(), drill.Start{})
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	for _, name := range []string{"order", "a", "b"} {
		calls.Go(func() {
			r, err := i.Execute(t.Context(), tool.Call{Tool: name, Args: []byte("{}")})
			if err != nil || r.Err == nil || r.Err.Code != tool.CodeUnavailable {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		})
	}
	i.Kill()
	calls.Wait()
	i.Close()
}

// Options that share nothing have nothing to close.
func TestCloseOfNothing(*testing.T) { (&drillfile.Options{}).Close() }
