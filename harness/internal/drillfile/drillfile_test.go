package drillfile_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/drillfile"
	"github.com/retake-harness/retake/harness/internal/drillfile/drilltest"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
	"github.com/retake-harness/retake/harness/internal/world"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/schema"
)

func TestMain(m *testing.M) { processtest.Main(m, map[string]func(){"shop": drilltest.Main}) }

// shop describes the test's own binary as a server, with further flags.
func shop(tb testing.TB, hooks string, flags ...string) string {
	tb.Helper()
	command := append([]string{processtest.Self(tb), "-db", `"${scratch}/shop.db"`}, flags...)
	return fmt.Sprintf("servers:\n  shop: {command: [%s], env: [%s]%s", strings.Join(command, ", "), strings.Join(processtest.Env("shop"), ", "), hooks)
}

const (
	allHooks = ", hooks: {points: [before_reserve, after_reserve, after_effect, after_record], clock: true, fail: [payment]}"
	tenants  = "principals: {ann: {env: [TENANT=ann]}, bob: {env: [TENANT=bob]}}\n"
	ordering = `drills:
  order:
    tool: order
    run: {mcp: shop}
    args: {sku: A-17, quantity: 1}
    bad: {sku: A-17, quantity: 0}
    key: {field: key, max_length: 64}
    effects: {sql: {database: "sqlite:${scratch}/shop.db", query: select count(*) from orders}}
    policies: {expiry: 24h, lock: 5m}
    together: true
    looks: [{tool: orders, from: /order}]
`
)

func load(tb testing.TB, text string) *drillfile.Drill {
	tb.Helper()
	drills, err := drillfile.Parse("scenarios/shop/drill.yaml", "shop", []byte(text), drillfile.Options{World: world.Options{Getenv: func(string) string { return "" }}})
	if err != nil {
		tb.Fatal(err)
	}
	return drills[0]
}

func run(tb testing.TB, text string, only ...string) *drill.Report {
	tb.Helper()
	d := load(tb, text)
	p, err := d.Params(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	p.Only = only
	r, err := drill.Run(tb.Context(), p)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func breached(r *drill.Report) []string {
	var out []string
	for _, row := range r.Of(drill.Breached) {
		out = append(out, row.Name())
	}
	return out
}

// The programs are real, so are their ends.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		why, text string
		want      []string // breached
		applied   int      // at least
	}{
		{"the sound one", shop(t, allHooks) + "}\n" + tenants + ordering, nil, 26},
		{"the form of the tutorials", shop(t, allHooks, "-naive") + "}\n" + tenants + ordering, []string{"I2", "I2 two processes", "I3 crash", "I10 after_effect", "I13", "I18 after_effect"}, 20},
		{"the sound one without hooks", shop(t, "") + "}\n" + ordering, nil, 15},
		{
			"the sound one over HTTP", shop(t, allHooks, "-http", `"127.0.0.1:${port}"`) + `, url: "http://127.0.0.1:${port}/"}` + "\n" +
				"principals: {ann: {headers: {Authorization: Bearer ann-token}}, bob: {headers: {Authorization: Bearer bob-token}}}\n" + ordering,
			nil, 28,
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			t.Parallel()
			r := run(t, tc.text)
			if diff := cmp.Diff(tc.want, breached(r)); diff != "" || r.Totals.Applied() < tc.applied {
				t.Errorf("(-want +got):\n%s\n%s", diff, r.AppendText(nil))
			}
		})
	}
}

// What is wrong with a file is told with its place.
func TestInvalid(t *testing.T) {
	editor := editorSchema(t)
	head := "servers:\n  shop: {command: [s]}\n"
	for _, tc := range []struct {
		why, text, want string
		editor          bool // an editor tells it too
	}{
		{"no drills", head, `1:1: "drills" is missing: describe at least one drill, by its name`, true},
		{"an empty mapping", "drills: {}\n", `1:9: must have at least one drill`, false},
		{"a misspelled field", strings.Replace(head+ordering, "volatile", "volatlie", 1) + "    volatlie: []\n", `unknown field "volatlie" (did you mean "volatile"?)`, true},
		{"an unknown server", ordering, `4:10: unknown MCP server "shop"; declare it under servers, here or in retake.yaml`, false},
		{"an unknown policy", head + strings.Replace(ordering, "lock: 5m", "in_flight: sane", 1), `must be one of any, same, conflict, is "sane" (did you mean "same"?)`, true},
		{"an expiry without a time", head + strings.Replace(ordering, "expiry: 24h", "expired: refused", 1), `expired says what happens after an expiry, and none is given`, false},
		{"a pattern that is none", head + strings.Replace(ordering, "max_length: 64", "pattern: '['", 1), `is no regular expression`, false},
		{"a recording", head + strings.Replace(ordering, "mcp: shop", "cassette: true", 1), `a recording cannot be drilled; say mcp, http or command`, false},
		{"a pointer without a slash", head + strings.Replace(ordering, "/order}", "order}", 1), `JSON pointer "order" does not begin with a slash; write "/order"`, false},
		{"no probe", head + strings.Replace(ordering, "    effects:", "    # effects:", 1), `"effects" is missing: say how the tool's effects are counted in the world`, true},
		{"a batch that never fails", head + ordering + "    batch: {args: {}, items: 2}\n", `one of "bad", "fail" is missing`, true},
		{"two duplicates at least", head + ordering + "    duplicates: 1\n", `must be a whole number of at least 2, is 1`, true},
	} {
		_, err := drillfile.Parse("drill.yaml", "", []byte(tc.text), drillfile.Options{})
		if err == nil || failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s:\n got %v\nwant %s", tc.why, err, tc.want)
		}
		text, err := yamlwalk.ToJSON("drill.yaml", []byte(tc.text))
		if err != nil {
			t.Fatal(err)
		}
		if refused := editor.Check(text) != nil; refused != tc.editor {
			t.Errorf("%s: the editor's schema refuses: %v, want %v", tc.why, refused, tc.editor)
		}
	}
	text, err := yamlwalk.ToJSON("drill.yaml", []byte(head+tenants+ordering))
	if bad := editor.Check(text); err != nil || bad != nil {
		t.Errorf("the editor's schema refuses a good file: %v", bad)
	}
}

// The committed schema is what the tables of fields give. RETAKE_UPDATE_SCHEMAS=1
// writes it anew.
func TestCommittedSchema(t *testing.T) {
	want, err := drillfile.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	const name = "drill.schema.json"
	if os.Getenv("RETAKE_UPDATE_SCHEMAS") == "1" {
		if err := os.WriteFile(name, want, 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what the fields give; write it with: RETAKE_UPDATE_SCHEMAS=1 go test ./harness/internal/drillfile (-want +got):\n%s", name, diff)
	}
}

func editorSchema(t *testing.T) *schema.Schema {
	t.Helper()
	raw, err := drillfile.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFilesAreFound(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"drill.yaml", "shop/drill.yaml", "_old/drill.yaml", ".git/drill.yaml", "shop/order.yaml"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), []byte("servers: {shop: {command: [s]}}\n"+ordering), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	drills, err := drillfile.LoadAll(dir, drillfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range drills {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"order", "shop/order"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What only a server can tell is told when it is asked.
func TestParams(t *testing.T) {
	for _, tc := range []struct {
		why, text, want string
		class           failure.Class
	}{
		{"a tool that it has not", shop(t, "") + "}\n" + strings.Replace(ordering, "tool: order\n", "tool: odrer\n", 1), `scenarios/shop/drill.yaml:4:3: drill "shop/order": the MCP server "shop" has no tool "odrer" (did you mean "order"?)`, failure.ScenarioInvalid},
		{"a server that does not start", "servers: {shop: {command: [no-such-program]}}\n" + ordering, `no-such-program`, failure.World},
		{"an undeclared secret", "servers: {shop: {command: [s], env: [TOKEN]}}\n" + ordering, `the environment variable TOKEN, which is not declared as a secret`, failure.ScenarioInvalid},
	} {
		_, err := load(t, tc.text).Params(t.Context())
		if failure.Of(err) != tc.class || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s:\n got %v\nwant %s", tc.why, err, tc.want)
		}
	}
}

// An endpoint cannot be killed, and remembers; what can be tried of it is.
func TestEndpoint(t *testing.T) {
	var mu sync.Mutex
	orders, stored := 0, map[string]string{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintf(w, `{"orders":%d}`, orders)
	})
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer t" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, _ := io.ReadAll(r.Body)
		key := r.Header.Get("Idempotency-Key")
		switch known := stored[key]; {
		case key == "" || len(key) > 64:
			w.WriteHeader(http.StatusBadRequest)
		case known == "":
			orders++
			stored[key] = string(body)
			fallthrough
		default: // whatever was asked under the key
			_, _ = fmt.Fprint(w, `{"ok":true}`)
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	text := `drills:
  order:
    tool: order
    run: {http: {url: "` + server.URL + `/orders", headers: {Authorization: Bearer t}}}
    args: {sku: A-17}
    key: {field: key}
    effects: {http: {url: "` + server.URL + `/count"}, pointer: /orders}
`
	for range 2 { // keys of the first are known in the second
		r := run(t, text)
		if diff := cmp.Diff([]string{"I5", "I6"}, breached(r)); diff != "" {
			t.Errorf("other arguments get the stored result (-want +got):\n%s\n%s", diff, r.AppendText(nil))
		}
		for _, row := range []string{"I1", "I2", "T1", "T2"} {
			if got := r.States()[row]; got != drill.Held {
				t.Errorf("%s is %q", row, got)
			}
		}
		if got := r.States()["I3 crash"]; got != drill.NotApplicable {
			t.Errorf("I3 crash is %q at an endpoint that nobody can kill", got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("servers:\n  shop: {command: [s]}\n" + ordering)
	f.Add(tenants + ordering)
	f.Add("drills: {a: {tool: b, run: {http: {url: 'http://h/'}}, args: {}, effects: {tool: c}}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		drills, err := drillfile.Parse("drill.yaml", "", []byte(text), drillfile.Options{})
		if err != nil && failure.Of(err) != failure.ScenarioInvalid {
			t.Errorf("class %s: %v", failure.Of(err), err)
		}
		if err == nil && len(drills) == 0 {
			t.Error("a file without a drill is accepted")
		}
	})
}
