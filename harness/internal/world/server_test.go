package world_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	_ "modernc.org/sqlite"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
	"github.com/retake-harness/retake/harness/internal/world"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// webShop is a program that serves its tools at ADDRESS to whoever has a token of
// TOKENS (alice=a,bob=b), and keeps its orders in the database DB.
func webShop() {
	db, err := sql.Open("sqlite", os.Getenv("DB"))
	if err == nil {
		_, err = db.Exec("create table if not exists orders(tenant text, gift text)")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "tenant", os.Getenv("TENANT"))
	shop := func(tenant string) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "order"}, func(ctx context.Context, _ *mcp.CallToolRequest, in gift) (*mcp.CallToolResult, any, error) {
			_, err := db.ExecContext(ctx, "insert into orders values (?, ?)", tenant, in.ID)
			return nil, map[string]string{"for": tenant}, err
		})
		mcp.AddTool(s, &mcp.Tool{Name: "list", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, func(ctx context.Context, _ *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
			var n int
			err := db.QueryRowContext(ctx, "select count(*) from orders where tenant = ?", tenant).Scan(&n)
			return nil, map[string]int{"orders": n}, err
		})
		return s
	}
	if os.Getenv("ADDRESS") == "" {
		_ = shop(os.Getenv("TENANT")).Run(context.Background(), &mcp.StdioTransport{})
		return
	}
	fmt.Print(strings.Repeat("starting\n", 100_000)) // more than a pipe holds
	tenants := map[string]string{"Bearer tok-a": "alice", "Bearer tok-b": "bob"}
	handler := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server { return shop(tenants[r.Header.Get("Authorization")]) }, &mcp.StreamableHTTPOptions{Stateless: true})
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Getenv("ADDRESS"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // a program of the test
		if tenants[r.Header.Get("Authorization")] == "" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	})))
	os.Exit(3)
}

const principals = `principals:
  alice: {headers: {Authorization: Bearer tok-a}, env: [TENANT=alice]}
  bob: {headers: {Authorization: Bearer tok-b}, env: [TENANT=bob]}
  eve: {headers: {Authorization: Bearer tok-e}, env: [TENANT=eve]}
`

func web(tb testing.TB, more string) string {
	tb.Helper()
	return fmt.Sprintf("servers:\n  shop: {command: [%s], env: [%s, 'DB=${scratch}/shop.db', %s}\n", processtest.Self(tb), strings.Join(processtest.Env("web-shop"), ", "), more)
}

const (
	overHTTP  = "'ADDRESS=127.0.0.1:${port}'], url: 'http://127.0.0.1:${port}/mcp'"
	overPipes = "ADDRESS=]"
)

// Each turn is in its principal's name, over one program that is reached by its
// address, or a program each; what was done is counted in the database itself.
func TestPrincipals(t *testing.T) {
	for _, tc := range []struct{ why, how, eve, effects string }{
		{"over HTTP, where a wrong token is told to the model", overHTTP, `{"ok":false,"error":{"code":"UNAUTHORIZED","message":"the tool does not accept the host's credentials","retryable":false}}`, "2"},
		{"over pipes, each with an environment of its own", overPipes, `{"for":"eve"}`, "3"},
	} {
		text := strings.Replace(head, "task: t\n", "turns: [{user: a, as: eve}, {user: b, as: alice}, {user: c, as: bob}]\n", 1) + principals + web(t, tc.how) + `tools: {from: shop}
effects:
  order: {sql: {database: 'sqlite:${scratch}/shop.db', query: select count(*) from orders}}
expect: {golden: false, breaches: [W4], effects: {order: ` + tc.effects + `}}
`
		agent := harness.Func(func(ctx context.Context, env *harness.Env) (string, error) {
			var told []string
			for _, turn := range env.Scenario.Turns {
				env.Tools.ActAs(turn.As)
				for _, call := range []string{"order", "list"} {
					a, err := env.Tools.Call(ctx, call, call+turn.As, `{"id":"g1"}`)
					if err != nil {
						return "", err
					}
					if turn.As != "eve" || call == "order" {
						told = append(told, a.Text)
					}
				}
			}
			return strings.Join(told, "\n"), nil
		})
		r := execAs(t, text, agent)
		want := tc.eve + "\n{\"for\":\"alice\"}\n{\"orders\":1}\n{\"for\":\"bob\"}\n{\"orders\":1}"
		if diff := cmp.Diff(want, r.Outcome.Answer); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
		for _, f := range r.Failures {
			t.Errorf("%s: %s: %s", tc.why, f.Class, f.What)
		}
	}
}

// A count of the world is a fact: what the messages say does not matter.
func TestEffectsAreCountedInTheWorld(t *testing.T) {
	for _, tc := range []struct{ why, probe, want string }{
		{"by a query", "sql: {database: 'sqlite:${scratch}/shop.db', query: select count(*) from orders}", "order: 2 effects in the world, expected 1"},
		{"by a tool that the scenario has", "tool: list, pointer: /orders", "order: 2 effects in the world, expected 1"},
		{"by one that the model is not shown", "mcp: shop, tool: list, pointer: /orders", "order: 2 effects in the world, expected 1"},
		{"a query that fails is no zero", "sql: {database: 'sqlite:${scratch}/shop.db', query: select count(*) from oders}", `scenarios/gifts.yaml:9:3: counting the effects of "order": the query "select count(*) from oders"`},
		{"nor is a tool that does", "mcp: shop, tool: lst, pointer: /orders", `counting the effects of "order": the tool "lst"`},
	} {
		text := head + web(t, overPipes) + "effects:\n  order: {" + tc.probe + "}\ntools: {from: shop, names: [order, list]}\nexpect: {golden: false, breaches: [W4], effects: {order: 1}}\n"
		r := exec(t, strings.TrimPrefix(text, head), [2]string{"order", `{"id":"g1"}`}, [2]string{"order", `{"id":"g1"}`})
		said := ""
		for _, f := range r.Failures {
			said += f.What + "\n"
		}
		for _, b := range r.Breaches {
			said += b.What + "\n"
		}
		if r.Verdict == harness.Pass || !strings.Contains(said, tc.want) {
			t.Errorf("%s: %s: %s\nwant %s", tc.why, r.Verdict, said, tc.want)
		}
	}
}

func TestServerThatIsReachedByItsAddress(t *testing.T) {
	start := func(name string, env ...tool.Setting) (*world.Server, error) {
		return world.StartServer(t.Context(), scenario.Server{
			Name: "shop", Command: []string{processtest.Self(t)}, Env: append(settings(processtest.Env(name)...), env...), URL: "http://127.0.0.1:${port}/mcp",
		}, options(), world.Start{Scratch: t.TempDir()})
	}
	if _, err := start("fails"); failure.Of(err) != failure.World || !strings.Contains(err.Error(), "the program ended before it could be reached: exit status 2; standard error: no database") {
		t.Errorf("a program that ends: %v", err)
	}
	s, err := start("web-shop", tool.Setting{Name: "DB", Value: "${scratch}/db"}, tool.Setting{Name: "ADDRESS", Value: "127.0.0.1:${port}"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(nil); !errors.Is(err, mcptool.ErrUnauthorized) {
		t.Errorf("without a token: %v", err)
	}
	alice := &scenario.Principal{Name: "alice", Headers: []tool.Setting{{Name: "Authorization", Value: "Bearer tok-a"}}}
	if _, err := s.Session(alice); err != nil {
		t.Errorf("with one: %v", err)
	}
	pid := s.Pid()
	s.Kill()
	processtest.Gone(t, pid)
	if _, err := s.Session(alice); failure.Of(err) != failure.World {
		t.Errorf("when it is over: %v", err)
	}
	s.Close()
}

// A server is built once for all runs that share it, and what it was built into is
// removed when they are over.
func TestBuild(t *testing.T) {
	o := options()
	o.Shared = world.NewShared()
	dir := t.TempDir()
	server := scenario.Server{
		Name: "shop", Build: []string{"sh", "-c", "echo $0 >> " + dir + "/log; ln -s " + processtest.Self(t) + " $0/shop", "${build}"},
		Command: []string{"${build}/shop"}, Env: settings(append(processtest.Env("web-shop"), "DB=${scratch}/db")...),
	}
	for range 2 {
		s, err := world.StartServer(t.Context(), server, o, world.Start{Scratch: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Session(nil); err != nil {
			t.Error(err)
		}
		s.Close()
	}
	log, err := os.ReadFile(dir + "/log")
	built, more, _ := strings.Cut(string(log), "\n")
	if _, there := os.Stat(built); err != nil || there != nil || more != "" {
		t.Errorf("built into %q, %v, %v", log, err, there)
	}
	server.Build = []string{"sh", "-c", "echo no compiler >&2; exit 4"}
	if _, err := world.StartServer(t.Context(), server, o, world.Start{}); failure.Of(err) != failure.World || !strings.Contains(err.Error(), `MCP server "shop": its build failed with exit status 4: no compiler`) {
		t.Errorf("a build that fails: %v", err)
	}
	o.Shared.Close()
	if _, err := os.Stat(built); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %s, %v", built, err)
	}
}

func settings(env ...string) []tool.Setting {
	out := make([]tool.Setting, len(env))
	for i, v := range env {
		name, value, _ := strings.Cut(v, "=")
		out[i] = tool.Setting{Name: name, Value: value}
	}
	return out
}

// What a program writes to its standard error can be listened to.
func TestListen(t *testing.T) {
	heard := make(chan string, 10)
	vars := settings(append(processtest.Env("web-shop"), "DB=${scratch}/db", "TENANT=nobody")...)
	s, err := world.StartServer(t.Context(), scenario.Server{Name: "shop", Command: []string{processtest.Self(t)}, Env: vars}, options(), world.Start{
		Scratch: t.TempDir(), Env: []tool.Setting{{Name: "TENANT", Value: "somebody"}}, Listen: func(line string) { heard <- line },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Session(nil); err != nil {
		t.Fatal(err)
	}
	if line := <-heard; line != "tenant somebody" {
		t.Errorf("heard %q", line)
	}
}

func TestInScratch(t *testing.T) {
	for _, tc := range []struct{ why, args, scratch, want string }{
		{"a path in the run's folder", `{"path":"${scratch}/a","n":[1,"${scratch}"]}`, "/tmp/x", `{"path":"/tmp/x/a","n":[1,"/tmp/x"]}`},
		{"what would break the JSON is escaped", `{"path":"${scratch}"}`, `C:\tmp "x"`, `{"path":"C:\\tmp \"x\""}`},
		{"other words are the tool's", `{"text":"${price} and $scratch"}`, "/tmp/x", `{"text":"${price} and $scratch"}`},
	} {
		if got := world.InScratch([]byte(tc.args), tc.scratch); string(got) != tc.want {
			t.Errorf("%s: %s, want %s", tc.why, got, tc.want)
		}
	}
}
