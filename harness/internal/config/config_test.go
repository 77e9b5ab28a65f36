package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/config"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/schema"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

const full = `default_models: [gpt-5.5-mini]
models:
  gpt-5.5-mini:
    api: openai-chat
    base_url: https://api.example.com/v1
    key: {env: OPENAI_API_KEY}
    price: {input: 0.25, output: 2, cache_read: 0.025, as_of: 2026-11-01}
  local:
    api: anthropic-messages
servers:
  shop: {command: [shop-server, --db, ':memory:'], env: [SHOP_DB, MODE=test], timeout: 5s}
  search: {url: 'https://mcp.example.com/mcp', headers: {Authorization: {env: SEARCH_KEY, prefix: 'Bearer '}, X-Tenant: acme}}
secrets:
  SEARCH_KEY: {owner: search-team, rotate_by: 2027-01-01}
limits: {iterations: 5, tokens: 9000, tool_calls: 7, time: 2m, parallel: 3}
retries: {attempts: 2, backoff: 100ms, max_backoff: 1s, retry_after_cap: 20s, attempt_timeout: 90s}
real_wait_cap: 1s
redact: {headers: [x-tenant], json: [/user/email]}
rubric: rubric.yaml
flags: {new_loop: true}
reports: {keep: 3}
record: {tokens: 5000, cost: 1.5, expires: 30d, parallel: 2}
tool_prices:
  find_flights: {call: 0.004, as_of: 2026-11-02}
`

var unexported = cmpopts.IgnoreUnexported(config.Config{}, config.Secret{})

func TestLoadEveryField(t *testing.T) {
	c := load(t, full, func(name string) string { return map[string]string{"OPENAI_API_KEY": "sk-secret"}[name] })
	want := &config.Config{
		File: c.File, DefaultModels: []string{"gpt-5.5-mini"},
		Models: []config.Model{
			{Name: "gpt-5.5-mini", API: wire.OpenAIChat, BaseURL: "https://api.example.com/v1", Key: "OPENAI_API_KEY", Price: &config.Price{
				Input: new(0.25), Output: new(2.0), CacheRead: new(0.025), AsOf: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
			}},
			{Name: "local", API: wire.AnthropicMessages},
		},
		ToolPrices: []config.ToolPrice{{Tool: "find_flights", Call: 0.004, AsOf: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)}},
		Servers: []scenario.Server{
			{Name: "shop", Command: []string{"shop-server", "--db", ":memory:"}, Env: []tool.Setting{{Name: "SHOP_DB", Env: "SHOP_DB"}, {Name: "MODE", Value: "test"}}, Timeout: 5 * time.Second},
			{Name: "search", URL: "https://mcp.example.com/mcp", Headers: []tool.Setting{{Name: "Authorization", Value: "Bearer ", Env: "SEARCH_KEY"}, {Name: "X-Tenant", Value: "acme"}}},
		},
		Secrets: []config.Secret{
			{Name: "SEARCH_KEY", Owner: "search-team", RotateBy: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)},
			{Name: "OPENAI_API_KEY"},
			{Name: "SHOP_DB"},
		},
		Limits:      scenario.Limits{Iterations: 5, Tokens: 9000, ToolCalls: 7, Time: 2 * time.Minute, Parallel: 3},
		Retries:     config.Retries{Attempts: 2, Backoff: 100 * time.Millisecond, MaxBackoff: time.Second, RetryAfterCap: 20 * time.Second, AttemptTimeout: 90 * time.Second},
		RealWaitCap: time.Second,
		Redact:      config.Redact{Headers: []string{"x-tenant"}, JSON: []string{"/user/email"}},
		Rubric:      "rubric.yaml", Flags: map[string]bool{"new_loop": true}, KeepReports: 3,
		Record: config.Record{Tokens: 5000, Cost: 1.5, Expires: 30 * 24 * time.Hour, Parallel: 2},
	}
	if diff := cmp.Diff(want, c, unexported); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s, ok := c.Secret("OPENAI_API_KEY"); !ok || s.Value() != "sk-secret" {
		t.Error("the secret's value is not the environment's")
	}
}

func TestDefaults(t *testing.T) {
	want := &config.Config{
		Limits:      scenario.Limits{Iterations: 10, Parallel: 8},
		Retries:     config.Retries{Attempts: 3, Backoff: 500 * time.Millisecond, MaxBackoff: 30 * time.Second, RetryAfterCap: time.Minute, AttemptTimeout: 10 * time.Minute},
		RealWaitCap: 2 * time.Second, KeepReports: 10,
		Record: config.Record{Tokens: 200_000, Cost: 5, Expires: 90 * 24 * time.Hour, Parallel: 1},
	}
	missing, err := config.Load(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for why, got := range map[string]*config.Config{
		"no file":      missing,
		"nothing said": load(t, "flags: {}\n", nil),
	} {
		if diff := cmp.Diff(want, got, unexported, cmpopts.IgnoreFields(config.Config{}, "File")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", why, diff)
		}
	}
	if o := missing.Options(nil); o.Known != nil {
		t.Errorf("without a file scenarios may name only %q", o.Known)
	}
}

func TestEffective(t *testing.T) {
	c := load(t, full, func(name string) string { return map[string]string{"OPENAI_API_KEY": "sk-secret"}[name] })
	var got strings.Builder
	for _, s := range c.Effective() {
		got.WriteString(strings.Join([]string{s.Key, s.Value, strings.TrimPrefix(s.Source, c.File), s.Owner, s.RotateBy}, "|") + "\n")
	}
	want := `default_models|gpt-5.5-mini|:1:1||
models.gpt-5.5-mini.api|openai-chat|:4:5||
models.gpt-5.5-mini.base_url|https://api.example.com/v1|:5:5||
models.gpt-5.5-mini.key.env|OPENAI_API_KEY|:6:11||
models.gpt-5.5-mini.price.input|$0.25 a million|:7:13||
models.gpt-5.5-mini.price.output|$2 a million|:7:26||
models.gpt-5.5-mini.price.cache_read|$0.025 a million|:7:37||
models.gpt-5.5-mini.price.cache_write|not known|default||
models.gpt-5.5-mini.price.as_of|2026-11-01|:7:56||
models.local.api|anthropic-messages|:9:5||
models.local.base_url|the provider's|default||
models.local.key.env|none|default||
models.local.price|not known|default||
tool_prices.find_flights.call|$0.004|:24:18||
tool_prices.find_flights.as_of|2026-11-02|:24:31||
servers.shop.command|shop-server --db :memory:|:11:10||
servers.shop.env|SHOP_DB, MODE|:11:52||
servers.shop.timeout|5s|:11:79||
servers.search.url|https://mcp.example.com/mcp|:12:12||
servers.search.headers|Authorization, X-Tenant|:12:48||
servers.search.timeout|30s|default||
secrets.SEARCH_KEY|not set|environment|search-team|2027-01-01
secrets.OPENAI_API_KEY|set|environment||
secrets.SHOP_DB|not set|environment||
limits.iterations|5|:15:10||
limits.tokens|9000|:15:25||
limits.tool_calls|7|:15:39||
limits.time|2m0s|:15:54||
limits.parallel|3|:15:64||
retries.attempts|2|:16:11||
retries.backoff|100ms|:16:24||
retries.max_backoff|1s|:16:40||
retries.retry_after_cap|20s|:16:57||
retries.attempt_timeout|1m30s|:16:79||
real_wait_cap|1s|:17:1||
redact.headers|x-tenant|:18:10||
redact.json|/user/email|:18:31||
rubric|rubric.yaml|:19:1||
flags.new_loop|true|:20:9||
reports.keep|3|:21:11||
record.tokens|5000|:22:10||
record.cost|$1.5|:22:24||
record.expires|30d|:22:35||
record.parallel|2|:22:49||
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(got.String(), "sk-") {
		t.Error("a part of a secret is shown")
	}
}

func TestDefaultsSayThatTheyAre(t *testing.T) {
	for _, s := range load(t, "real_wait_cap: 1s\n", nil).Effective() {
		if want := s.Key != "real_wait_cap"; (s.Source == config.FromDefault) != want {
			t.Errorf("%s comes from %s", s.Key, s.Source)
		}
	}
}

func TestInvalid(t *testing.T) {
	for _, tc := range invalid {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "retake.yaml"), tc.text)
		_, err := config.Load(dir, nil)
		if failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), "retake.yaml:"+tc.want) {
			t.Errorf("%s:\n got %v\nwant %s", tc.why, err, tc.want)
		}
	}
}

var invalid = []struct {
	why, text, want string
	editor          bool // the JSON Schema refuses it too
}{
	{"an empty file", "", "1:1: the file is empty", false},
	{"a misspelled field", "modles: {}\n", `1:1: unknown field "modles" (did you mean "models"?)`, true},
	{"a default that is not described", "default_models: gpt-5.5-mni\nmodels: {gpt-5.5-mini: {api: openai-chat}}\n", `1:17: unknown model "gpt-5.5-mni" (did you mean "gpt-5.5-mini"?); describe it under models`, false},
	{"a model without its protocol", "models: {a: {}}\n", `1:13: "api" is missing: name the wire protocol`, true},
	{"a model twice", "models:\n  a: {api: gemini}\n  a: {api: gemini}\n", `3:3: "a" is given twice; drop one`, false},
	{"a key itself", "models: {a: {api: gemini, key: sk-1}}\n", `1:32: must be {env: NAME}, with the name of an environment variable; never the key itself`, true},
	{"a password in an address", "models: {a: {api: gemini, base_url: 'https://u:p@x.example'}}\n", `1:37: an address must not hold a password`, false},
	{"a key in an address", "models: {a: {api: gemini, base_url: 'https://x.example?key=1'}}\n", `1:37: an address must not hold a key; put it into the environment and name it under key`, false},
	{"a part of a page", "models: {a: {api: gemini, base_url: 'https://x.example#b'}}\n", `1:37: must be an address without #, is "https://x.example#b"`, false},
	{"no address", "models: {a: {api: gemini, base_url: api.example.com}}\n", `1:37: must be an address like https://api.example.com, is "api.example.com"`, false},
	{"a price without its day", "models: {a: {api: gemini, price: {input: 1, output: 2}}}\n", `1:34: "as_of" is missing: say on which day the price was looked up`, true},
	{"a negative price", "models: {a: {api: gemini, price: {input: -1, output: 2, as_of: 2026-11-01}}}\n", `1:42: must be a number of at least 0, is -1`, true},
	{"a day that is none", "secrets: {KEY: {owner: o, rotate_by: 2027-02-30}}\n", `1:38: must be a day, like 2026-07-14, is "2027-02-30"`, true},
	{"a secret without an owner", "secrets: {KEY: {}}\n", `1:16: "owner" is missing: name who renews it`, true},
	{"a variable that cannot be one", "secrets: {MY-KEY: {owner: o}}\n", `1:11: "MY-KEY" cannot be used as a name here; it must match ^[A-Za-z_][A-Za-z0-9_]*$`, true},
	{"a wait without a unit", "real_wait_cap: 2\n", `1:16: must be a time with its unit, like 500ms, 10s or 2m, is 2 without a unit`, true},
	{"an age without a unit", "record: {expires: 30}\n", `1:19: must be a time with its unit, like 12h, 30d or 90d, is 30 without a unit`, true},
	{"an age that is none", "record: {expires: 3w}\n", `1:19: must be a time with its unit, like 12h, 30d or 90d, is "3w"`, true},
	{"an age of days behind hours", "record: {expires: 3h2d}\n", `1:19: must be a time with its unit, like 12h, 30d or 90d, is "3h2d"`, true},
	{"no tokens", "record: {tokens: 0}\n", `1:18: must be a whole number of at least 1, is 0`, true},
	{"a flag that is no truth value", "flags: {a: on}\n", `1:12: must be true or false, is "on"`, true},
}

// RETAKE_UPDATE_SCHEMAS=1 writes the schema anew; RETAKE_UPDATE=1, which accepts
// transcripts, must not.
func TestCommittedSchema(t *testing.T) {
	const file = "retake.schema.json"
	want, err := config.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("RETAKE_UPDATE_SCHEMAS") == "1" {
		write(t, file, string(want))
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what the fields give; write it with: RETAKE_UPDATE_SCHEMAS=1 go test ./harness/internal/config (-want +got):\n%s", file, diff)
	}
}

func TestEditorAndLoaderAgree(t *testing.T) {
	raw, err := config.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	editor, err := schema.Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("../../../scenarios/retake.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rows := append(invalid, []struct {
		why, text, want string
		editor          bool
	}{{"every field", full, "", false}, {"our own", string(own), "", false}}...)
	for _, tc := range rows {
		text, err := yamlwalk.ToJSON("retake.yaml", []byte(tc.text))
		if err != nil {
			continue // no JSON comes of it: nothing for a schema
		}
		if problems := editor.Check(text); (problems != nil) != tc.editor {
			t.Errorf("%s: the editor's schema says %v, want refused: %v", tc.why, problems, tc.editor)
		}
	}
}

func TestOwnConfiguration(t *testing.T) {
	c, err := config.Load("../../../scenarios", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Models {
		s, ok := c.Secret(m.Key)
		switch {
		case m.Price == nil || m.Price.AsOf.IsZero():
			t.Errorf("%s has no dated price", m.Name)
		case !ok || s.Owner == "" || s.RotateBy.IsZero():
			t.Errorf("%s: the secret %q has no owner or no day of rotation", m.Name, m.Key)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(full)
	for _, tc := range invalid {
		f.Add(tc.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "retake.yaml"), text)
		c, err := config.Load(dir, func(string) string { return "sk-secret" })
		if err != nil {
			if failure.Of(err) != failure.ScenarioInvalid {
				t.Errorf("%v has class %q", err, failure.Of(err))
			}
			return
		}
		for _, s := range c.Effective() {
			if s.Key == "" || s.Value == "" || s.Source == "" || strings.Contains(s.Value, "sk-secret") {
				t.Errorf("got %+v", s)
			}
		}
	})
}

func load(t *testing.T, text string, getenv func(string) string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "retake.yaml"), text)
	c, err := config.Load(dir, getenv)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
