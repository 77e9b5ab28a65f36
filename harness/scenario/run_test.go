package scenario_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

const shopServer = "servers: {shop: {command: [shop-server]}}\n"

// invalidRuns are places of tools that must be refused.
var invalidRuns = []invalidRow{
	{"a server that nobody declared", valid + shopServer + "tools: [{name: a, run: {mcp: shpo}}]\n", `6:30: unknown MCP server "shpo" (did you mean "shop"?); declare it under servers, here or in retake.yaml`, false},
	{"tools of a server that nobody declared", valid + "tools: {from: shop}\n", `5:15: unknown MCP server "shop"; declare it under servers, here or in retake.yaml`, false},
	{"nothing said", valid + "tools: [{name: a, run: {}}]\n", `5:24: one of "mcp", "http", "command", "cassette" is missing`, true},
	{"two places", valid + shopServer + "tools: [{name: a, run: {mcp: shop, command: [x]}}]\n", `6:24: "mcp", "http", "command", "cassette" exclude each other; keep one`, true},
	{"not the cassette, and what then", valid + "tools: [{name: a, run: {cassette: false}}]\n", `5:35: must be true; where else the tool runs is said by mcp, http or command`, false},
	{"a provider's tool", valid + "tools: [{name: s, provider: {type: web_search}, run: {command: [x]}}]\n", `5:9: "provider", "run" exclude each other; keep one`, true},
	{"a tool's name there, and no server", valid + "tools: [{name: a, run: {command: [x], tool: b}}]\n", `5:45: tool names one of an MCP server; say mcp too`, false},
	{"an environment for a server", valid + shopServer + "tools: [{name: a, run: {mcp: shop, env: [X]}}]\n", `6:24: env is a command's; a server's environment is said under servers`, false},
	{"no program", valid + "tools: [{name: a, run: {command: []}}]\n", `5:34: must begin with the program, as in [shop-server, --db, shop.db]`, false},
	{"a command as a text", valid + "tools: [{name: a, run: {command: rm -r x}}]\n", `5:34: must be a list, each a text, is "rm -r x"`, true},
	{"no address", valid + "tools: [{name: a, run: {http: {url: shop/orders}}}]\n", `5:37: must be an address like https://shop.example/orders/{id}`, false},
	{"a host from an argument", valid + "tools: [{name: a, run: {http: {url: 'https://{host}/'}}}]\n", `5:37: must be an address like https://shop.example/orders/{id}`, false},
	{"a password in an address", valid + "tools: [{name: a, run: {http: {url: 'https://u:secret@h/'}}}]\n", `5:37: an address must not hold a password; put it into the environment, and send it as a header: {env: NAME}`, false},
	{"a header that is none", valid + "tools: [{name: a, run: {http: {url: 'https://h/', headers: {'a b': c}}}}]\n", "5:61: \"a b\" cannot be used as a name here; it must match ^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", true},
	{"a variable that is none", valid + "servers: {s: {command: [x], env: [a-b]}}\n", `5:35: must be NAME or NAME=value, is "a-b"`, true},
	{"a server that is nowhere", valid + "servers: {s: {timeout: 5s}}\n", `5:14: one of "command", "url" is missing`, true},
	{"headers for a program", valid + "servers: {s: {command: [x], headers: {a: b}}}\n", `5:14: "headers" goes with "url" alone; give that too, or drop it`, true},
	{"an environment for an address", valid + "servers: {s: {url: 'https://h/mcp', env: [A]}}\n", `5:14: "env" goes with "command" alone; give that too, or drop it`, true},
	{"a port that nobody serves", valid + "servers: {s: {url: 'http://127.0.0.1:${port}/mcp'}}\n", `5:14: nobody serves at ${port}; give the command of a program that is told the port`, false},
	{"a misspelled placeholder", valid + "servers: {s: {command: [x, '${scrath}/db']}}\n", `5:28: unknown placeholder ${scrath} (did you mean "scratch"?); known here are ${scratch}, ${port}, ${build}; write $${ for a literal ${`, false},
	{"a point that there is not", valid + "servers: {s: {command: [x], hooks: {points: [after_all]}}}\n", `5:46: must be one of before_reserve, after_reserve, after_effect, after_record, is "after_all"`, true},
	{"a tool twice", valid + shopServer + "tools: {from: shop, names: [a, a]}\n", `6:32: tool "a" is listed twice; drop one`, false},
	{"a misspelled tool, where the names are known", valid + shopServer + "tools: {from: shop, names: [order]}\nexpect: {effects: {odrer: 1}}\n", `7:20: unknown tool "odrer" (did you mean "order"?); declare it under tools`, false},
}

const shopTool = shopServer + "tools: [{name: a, run: {mcp: shop}}, {name: b}]\n"

// invalidProbes are probes, and principals, that must be refused.
var invalidProbes = []invalidRow{
	{"nothing said", valid + shopTool + "effects: {a: {}}\n", `7:14: one of "sql", "tool", "http" is missing`, true},
	{"two ways", valid + shopTool + "effects: {a: {tool: b, http: {url: 'https://h/'}}}\n", `7:14: "sql", "tool", "http" exclude each other; keep one`, true},
	{"a tool that there is not", valid + shopTool + "effects: {c: {tool: a}}\n", `7:11: unknown tool "c"; declare it under tools`, false},
	{"a recording counts nothing", valid + shopTool + "effects: {a: {tool: b}}\n", `7:21: the tool "b" answers from its recording, which counts nothing; say where it runs`, false},
	{"an unknown tool that counts", valid + shopTool + "effects: {a: {tool: bb}}\n", `7:21: unknown tool "bb"; name the server that has it with mcp, or declare it`, false},
	{"an unknown server", valid + shopTool + "effects: {a: {mcp: shpo, tool: l}}\n", `7:20: unknown MCP server "shpo" (did you mean "shop"?); declare it under servers, here or in retake.yaml`, false},
	{"a count that is held against nothing", valid + shopTool + "effects: {a: {mcp: shop, tool: l}}\nexpect: {effects: {b: 1}}\n", `7:11: the effects of "a" are counted, and held against nothing; say how many there have to be, under expect: effects`, false},
	{"headers where there is no address", valid + shopTool + "principals: {alice: {headers: {A: b}}}\nas: alice\n", `7:14: the headers of "alice" reach nobody: no tool runs at an address; a program is told by env`, false},
	{"an environment where there is no program", valid + "servers: {shop: {url: 'https://h/mcp'}}\ntools: [{name: a, run: {mcp: shop}}]\nprincipals: {alice: {env: [A=b]}}\nas: alice\n", `7:14: the env of "alice" reaches nobody: no tool is a program of its own; an address is told by headers`, false},
	{"a query has no pointer", valid + shopTool + "effects: {a: {sql: {database: 'sqlite:x', query: q}, pointer: /n}}\n", `7:14: "sql", "pointer", "matches" exclude each other; keep one`, true},
	{"one way of counting", valid + shopTool + "effects: {a: {tool: a, pointer: /n, matches: n}}\n", `7:14: "sql", "pointer", "matches" exclude each other; keep one`, true},
	{"an expression that is none", valid + shopTool + "effects: {a: {tool: a, matches: '['}}\n", `7:33: "[" is no regular expression: missing closing ]`, false},
	{"arguments of no tool", valid + shopTool + "effects: {a: {http: {url: 'https://h/'}, args: {}}}\n", `7:14: "args" goes with "tool" alone; give that too, or drop it`, true},
	{"no pointer", valid + shopTool + "effects: {a: {tool: a, pointer: n}}\n", `7:33: JSON pointer "n" does not begin with a slash; write "/n"`, false},
	{"another database", valid + shopTool + "effects: {a: {sql: {database: 'mysql://h/x', query: q}}}\n", "7:31: must be an address like sqlite:${scratch}/shop.db or postgres://localhost/shop", false},
	{"a password in it", valid + shopTool + "effects: {a: {sql: {database: 'postgres://u:secret@h/x', query: q}}}\n", "7:31: an address must not hold a password; put it into the environment: {env: NAME}", false},
	{"nobody acts", valid + "principals: {alice: {}}\n", `5:14: nobody says in whose name turn 1 is; say as: alice for the scenario or the turn`, false},
	{"somebody else acts", valid + "principals: {alice: {}}\nas: alise\n", `6:5: unknown principal "alise" (did you mean "alice"?); declare it under principals`, false},
	{"somebody never acts", valid + "principals: {alice: {}, bob: {}}\nas: alice\n", `5:25: no turn is in the name of "bob"; say as: bob, or drop it`, false},
}

// invalidApprovals are decisions that must be refused.
var invalidApprovals = []invalidRow{
	{"a tool that is not there", valid + "tools: [{name: a, approval: true}]\napprovals: [{tool: b, decision: deny}]\n", `6:20: unknown tool "b"; declare it under tools`, false},
	{"a tool that asks nobody", valid + "tools: [{name: a}]\napprovals: [{tool: a, decision: deny}]\n", `6:20: the tool "a" asks nobody; say approval: true in its declaration`, false},
	{"no decision", valid + "tools: [{name: a, approval: true}]\napprovals: [{tool: a}]\n", `6:13: "decision" is missing: say what the person decides: approve, deny, edit (with args), late (the call is over by then; the same call may be made later) or never`, true},
	{"another word", valid + "tools: [{name: a, approval: true}]\napprovals: [{tool: a, decision: refuse}]\n", `6:33: must be one of approve, deny, edit, late, never, is "refuse"`, true},
	{"an edit of nothing", valid + "tools: [{name: a, approval: true}]\napprovals: [{tool: a, decision: edit}]\n", `6:13: args and decision: edit belong together; give both, or neither`, false},
	{"arguments that nobody edits", valid + "tools: [{name: a, approval: true}]\napprovals: [{tool: a, decision: approve, args: {}}]\n", `6:13: args and decision: edit belong together; give both, or neither`, false},
	{"twice about the same call", valid + "tools: [{name: a, approval: true}]\napprovals: [{tool: a, decision: deny}, {tool: a, decision: approve}]\n", `6:47: two decisions about the same call of "a"; drop one, or say call`, false},
}

func TestInvalidRuns(t *testing.T) {
	for _, tc := range slices.Concat(invalidRuns, invalidProbes, invalidApprovals) {
		_, err := scenario.Parse("s.yaml", []byte(tc.text), scenario.Options{})
		if failure.Of(err) != failure.ScenarioInvalid || strings.ReplaceAll(err.Error(), "s.yaml:", "") != tc.want {
			t.Errorf("%s:\n got %v\nwant %s", tc.why, err, tc.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: the message repeats a password", tc.why)
		}
	}
}

func TestRuns(t *testing.T) {
	text := valid + `servers:
  shop: {url: 'https://shop.example/mcp', headers: {Authorization: {env: TOKEN, prefix: 'Bearer '}, X-Tenant: acme}, timeout: 5s}
tools:
  - {name: order, run: {mcp: shop, tool: create_order}}
  - {name: stock, run: {http: {method: GET, url: 'https://h/stock/{id}', headers: {X-Key: {env: STOCK_KEY}}}}}
  - {name: weigh, run: {command: [./weigh, --kg, 2], env: [SCALE, MODE=test]}}
  - {name: note, run: {cassette: true}}
  - {name: ask, run: {mcp: other}}
`
	s, err := scenario.Parse("s.yaml", []byte(text), scenario.Options{Servers: []scenario.Server{{Name: "other", Command: []string{"o"}}, {Name: "shop", Command: []string{"not-this-one"}}, {Name: "unused", Command: []string{"u"}}}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]scenario.Run{
		"order": {Server: "shop", Tool: "create_order"},
		"stock": {HTTP: &scenario.HTTP{Method: "GET", URL: "https://h/stock/{id}", Headers: []tool.Setting{{Name: "X-Key", Env: "STOCK_KEY"}}}},
		"weigh": {Command: &scenario.Command{Args: []string{"./weigh", "--kg", "2"}, Env: []tool.Setting{{Name: "SCALE", Env: "SCALE"}, {Name: "MODE", Value: "test"}}}},
		"ask":   {Server: "other"},
	}
	if diff := cmp.Diff(want, s.Runs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	servers := []scenario.Server{
		{Name: "shop", URL: "https://shop.example/mcp", Headers: []tool.Setting{{Name: "Authorization", Value: "Bearer ", Env: "TOKEN"}, {Name: "X-Tenant", Value: "acme"}}, Timeout: 5 * time.Second},
		{Name: "other", Command: []string{"o"}},
	}
	if diff := cmp.Diff(servers, s.Servers); diff != "" {
		t.Errorf("the scenario's own server goes first, and only what is used counts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"TOKEN", "STOCK_KEY", "SCALE"}, s.FromEnv()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !s.RunsTools() {
		t.Error("its tools run for real")
	}
}

// A scenario whose tools a server alone knows is read without them; what could not
// be checked then is checked when they are known.
func TestWithServerTools(t *testing.T) {
	decls := []tool.Decl{
		{Name: "find", Description: "Finds.", Effect: tool.EffectRead, Input: jsontext.Value(`{"type":"object"}`), Hints: &tool.Hints{ReadOnly: new(true)}},
		{Name: "order", Description: "Orders.", Effect: tool.EffectWrite, Output: jsontext.Value(`{"type":"object"}`), Input: jsontext.Value(`{"type":"object","properties":{"id":{},"k":{}},"required":["k","id"]}`)},
	}
	text := valid + shopServer + `tools:
  from: shop
  with: [{name: order, description: Orders it. Only after a yes., key: {field: k, from: host}}]
expect: {effects: {order: 1}, calls: [find, order]}
guard: [{tool: find, reason: not today}]
`
	s, err := scenario.Parse("s.yaml", []byte(text), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mine := *s
	mine.Expect.Golden = false
	full, err := mine.WithServerTools(map[string][]tool.Decl{"shop": decls})
	if err != nil {
		t.Fatal(err)
	}
	want := []tool.Decl{decls[0], {
		Name: "order", Description: "Orders it. Only after a yes.", Effect: tool.EffectWrite, Output: decls[1].Output, Input: jsontext.Value(`{"type":"object","properties":{"id":{}},"required":["id"]}`), Key: &tool.Key{Field: "k", From: tool.KeyFromHost},
	}}
	if diff := cmp.Diff(want, full.Tools); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if full.Expect.Golden || full.Expect.Effects["order"] != 1 {
		t.Error("what the caller had changed is lost")
	}
	_, err = s.WithServerTools(map[string][]tool.Decl{"shop": decls[:1]})
	for _, want := range []string{
		`8:17: the MCP server "shop" has no tool "order"`,
	} {
		if failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err = s.WithServerTools(map[string][]tool.Decl{"shop": decls[1:]})
	if failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), `unknown tool "find"`) {
		t.Errorf("a guard of a tool that is not there: %v", err)
	}
	bad := tool.Decl{Name: "find", Input: jsontext.Value(`{"type":"objekt"}`)}
	if _, err = s.WithServerTools(map[string][]tool.Decl{"shop": {bad, decls[1]}}); err == nil || !strings.Contains(err.Error(), `the server's tool "find": its input schema does not compile`) {
		t.Errorf("a schema that is none: %v", err)
	}
	plain, err := scenario.Parse("s.yaml", []byte(valid), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if same, err := plain.WithServerTools(nil); same != plain || err != nil || plain.RunsTools() {
		t.Errorf("a scenario without servers is itself: %v", err)
	}
}

func TestProbesAndPrincipals(t *testing.T) {
	text := strings.Replace(valid, "task: t\n", "", 1) + `servers:
  shop: {command: [shop, --db, '${scratch}/db', --port, '${port}'], url: 'http://127.0.0.1:${port}/mcp', hooks: {points: [after_effect], clock: true, fail: [payment]}}
principals:
  alice: {headers: {Authorization: {env: ALICE, prefix: 'Bearer '}}}
  bob: {headers: {X: bob}, env: [TENANT=bob]}
as: alice
turns: [one, {user: two, as: bob}, {user: three}]
tools: [{name: order, run: {mcp: shop}}, {name: mail, run: {mcp: shop}}, {name: note, run: {mcp: shop}}, {name: post, run: {mcp: shop}}]
effects:
  order: {sql: {database: 'sqlite:${scratch}/db', query: select count(*) from orders}}
  mail: {mcp: shop, tool: list_mails, args: {all: true}, pointer: /mails}
  note: {mcp: shop, tool: list_notes, matches: 'note \d+'}
  post: {http: {url: 'https://h/posts', headers: {X: {env: POST_KEY}}}, pointer: /n}
expect: {effects: {order: 1, mail: 1, note: 1, post: 1}}
`
	s, err := scenario.Parse("s.yaml", []byte(text), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Turns, []scenario.Turn{{User: "one", As: "alice"}, {User: "two", As: "bob"}, {User: "three", As: "alice"}}; !slices.Equal(got, want) {
		t.Errorf("turns: %v", got)
	}
	if got, want := s.FromEnv(), []string{"ALICE", "POST_KEY"}; !slices.Equal(got, want) {
		t.Errorf("from the environment: %v, want %v", got, want)
	}
	var shared []bool
	for i := range s.Probes {
		shared = append(shared, s.Probes[i].Shared(s))
	}
	if want := []bool{false, false, false, true}; !slices.Equal(shared, want) {
		t.Errorf("shared with other runs: %v, want %v", shared, want)
	}
	if got := string(s.Probes[1].Tool.Args); got != `{"all":true}` {
		t.Errorf("arguments: %s", got)
	}
	if m := s.Probes[2].Matches; m == nil || m.String() != `note \d+` {
		t.Errorf("expression: %v", m)
	}
	if h := s.Servers[0].Hooks; !h.Clock || !slices.Equal(h.Points, []string{"after_effect"}) || !slices.Equal(h.Fail, []string{"payment"}) {
		t.Errorf("hooks: %+v", h)
	}
}

func TestFill(t *testing.T) {
	for _, tc := range []struct{ why, text, want string }{
		{"a placeholder", "${scratch}/db", "/tmp/x/db"},
		{"twice, and another", "${scratch}:${port}${scratch}", "/tmp/x:80/tmp/x"},
		{"a literal one", "$${scratch}", "${scratch}"},
		{"a price is none", "$5 {x}", "$5 {x}"},
	} {
		if got := scenario.Fill(tc.text, map[string]string{"scratch": "/tmp/x", "port": "80"}); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
	}
}
