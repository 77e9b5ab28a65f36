package lint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// A sound read and a sound write of a server; rows change them.
const (
	soundRead = `{
		"name": "find_gift", "description": "Finds gifts for a person within a price.",
		"inputSchema": {"type":"object","properties":{"person":{"type":"string"},"at_most":{"type":"number"}},"required":["person"],"additionalProperties":false},
		"outputSchema": {"type":"object","properties":{"ok":{"type":"boolean"},"gifts":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}}},"reason":{"type":"string"}}},
		"annotations": {"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}}`
	soundWrite = `{
		"name": "create_order", "description": "Orders one gift. Only after the user has confirmed the price.",
		"inputSchema": {"type":"object","properties":{"sku":{"type":"string"},"idempotency_key":{"type":"string"}},"required":["sku","idempotency_key"],"additionalProperties":false},
		"outputSchema": {"type":"object","properties":{"ok":{"type":"boolean"},"order":{"type":"string"}}},
		"annotations": {"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}}`
)

// said is a tool as a server lists it.
type said struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Input       jsontext.Value `json:"inputSchema"`
	Output      jsontext.Value `json:"outputSchema"`
	Meta        jsontext.Value `json:"_meta"`
	Annotations *struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		Idempotent  *bool `json:"idempotentHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	} `json:"annotations"`
}

// toolOf is the tool of a text, with the members of change in the place of its own;
// null drops one.
func toolOf(tb testing.TB, text, change string) lint.Tool {
	tb.Helper()
	whole := merged(tb, text, change)
	var s said
	if err := json.Unmarshal([]byte(whole), &s); err != nil {
		tb.Fatal(err)
	}
	d := tool.Decl{Name: s.Name, Description: s.Description, Input: s.Input, Output: s.Output, Effect: tool.EffectWrite}
	if a := s.Annotations; a != nil {
		d.Hints = &tool.Hints{ReadOnly: a.ReadOnly, Destructive: a.Destructive, Idempotent: a.Idempotent, OpenWorld: a.OpenWorld}
		if a.ReadOnly != nil && *a.ReadOnly {
			d.Effect = tool.EffectRead
		}
	}
	return lint.Tool{Decl: d, Meta: s.Meta}
}

// row is a subject with the rules that it breaks, all of them.
type row struct {
	why  string
	read string // a change of the sound read
	// write is a change of the sound write.
	write string
	want  []string
}

var toolRows = []row{
	{why: "the sound ones", read: `{}`, write: `{}`},
	{why: "a name with a blank", read: `{"name":"find gift"}`, want: []string{"tool/name-valid"}},
	{why: "no name", read: `{"name":""}`, want: []string{"tool/name-valid"}},
	{why: "a name of 128", read: `{"name":"` + strings.Repeat("f", 128) + `"}`},
	{why: "a name of 129", read: `{"name":"` + strings.Repeat("f", 129) + `"}`, want: []string{"tool/name-valid"}},
	{why: "two of one name", read: `{}`, write: `{"name":"find_gift","annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}}`, want: []string{"tool/name-unique"}},
	{why: "no description", read: `{"description":null}`, want: []string{"tool/no-description"}},
	{why: "a read called delete", read: `{"name":"delete_gift"}`, want: []string{"tool/name-honest"}},
	{why: "a write called get", write: `{"name":"getOrder"}`, want: []string{"tool/name-honest"}},
	{why: "a name that only requests", write: `{"name":"request_account_deletion"}`},
	{why: "hints left out", read: `{"annotations":{"readOnlyHint":true}}`, want: []string{"tool/hints-explicit"}},
	{why: "openWorldHint alone left out", read: `{"annotations":{"readOnlyHint":true,"destructiveHint":false}}`, want: []string{"tool/hints-explicit"}},
	{why: "destructiveHint alone left out", read: `{"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, want: []string{"tool/hints-explicit"}},
	{why: "no annotations, so a write", write: `{"annotations":null}`, want: []string{"tool/hints-explicit"}},
	{why: "a destructive read", read: `{"annotations":{"readOnlyHint":true,"destructiveHint":true,"openWorldHint":false}}`, want: []string{"tool/hints-contradict"}},
	{why: "an idempotent read", read: `{"annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false,"idempotentHint":true}}`, want: []string{"tool/hint-idempotent-read"}},
	{why: "idempotentHint: false on a read says nothing", read: `{"annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false,"idempotentHint":false}}`},
	{why: "an input that is a list", read: `{"inputSchema":{"type":"array"}}`, want: []string{"tool/schema-object"}},
	{why: "no input schema", read: `{"inputSchema":null}`, want: []string{"tool/schema-object"}},
	{why: "no arguments at all", read: `{"inputSchema":{"type":"object","properties":{},"additionalProperties":false}}`},
	{why: "a $ref to elsewhere", read: `{"inputSchema":{"type":"object","properties":{"a":{"$ref":"https://example.com/a.json"}},"required":["a"],"additionalProperties":false}}`, want: []string{"tool/schema-local"}},
	{why: "a $ref to nothing", read: `{"inputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"additionalProperties":false}}`, want: []string{"tool/schema-local"}},
	{why: "a local $ref", read: `{"inputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"additionalProperties":false,"$defs":{"a":{"type":"string"}}}}`},
	{why: "an open input", read: `{"inputSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}`, want: []string{"tool/schema-closed"}},
	{why: "an open object inside", read: `{"inputSchema":{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}}}},"required":["a"],"additionalProperties":false}}`, want: []string{"tool/schema-closed"}},
	{why: "a map of texts is no open object", read: `{"inputSchema":{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}},"required":["a"],"additionalProperties":false}}`},
	{why: "an API's own dialect has no such word", read: `{"inputSchema":{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}}`},
	{why: "nothing is required", read: `{"inputSchema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false}}`, want: []string{"tool/schema-required"}},
	{why: "nothing is required, and all has a default", read: `{"inputSchema":{"type":"object","properties":{"a":{"type":"string","default":""},"b":{"type":"integer","default":1}},"additionalProperties":false}}`},
	{why: "no output schema", read: `{"outputSchema":null}`, want: []string{"tool/no-output-schema"}},
	{why: "an output that is a list", read: `{"outputSchema":{"type":"array"}}`, want: []string{"tool/output-object"}},
	{why: "telemetry in the answer", read: `{"outputSchema":{"type":"object","properties":{"ok":{},"debug":{"type":"object","properties":{"traceId":{}}}}}}`, want: []string{"tool/telemetry", "tool/telemetry"}},
	{why: "a write that repeats", write: `{"inputSchema":{"type":"object","properties":{"sku":{"type":"string"}},"required":["sku"],"additionalProperties":false}}`, want: []string{"tool/write-key"}},
	{why: "a draft by its own word", write: `{"name":"prepare_order","description":"Prices an order.","inputSchema":{"type":"object","properties":{"sku":{"type":"string"}},"required":["sku"],"additionalProperties":false},"annotations":{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":false,"idempotentHint":true}}`},
	{why: "a deletion that comes to the same when it is repeated, and may not be called at any time", write: `{"name":"delete_order","description":"Deletes an order.","inputSchema":{"type":"object","properties":{"order":{"type":"string"}},"required":["order"],"additionalProperties":false},"annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":false,"idempotentHint":true}}`, want: []string{"tool/write-when"}},
	{why: "another spelling of the key", write: `{"inputSchema":{"type":"object","properties":{"sku":{"type":"string"},"clientRequestId":{"type":"string"}},"required":["sku"],"additionalProperties":false}}`},
	{why: "a write that does not say when", write: `{"description":"Orders one gift."}`, want: []string{"tool/write-when"}},
	{why: "the word confirmation alone does not say when", write: `{"description":"Sends the confirmation of an order."}`, want: []string{"tool/write-when"}},
	{why: "other ways to say when", write: `{"description":"Orders one gift. Do not call it before the price was shown."}`},
	{why: "a switch with a payload", write: `{"inputSchema":{"type":"object","properties":{"operation":{"type":"string"},"payload":{"type":"object"},"idempotency_key":{"type":"string"}},"required":["operation"],"additionalProperties":false}}`, want: []string{"tool/universal"}},
	{why: "a switch with a payload of text", write: `{"inputSchema":{"type":"object","properties":{"action":{"type":"string","enum":["a","b"]},"data":{"type":"string","description":"Arguments as JSON"},"idempotency_key":{"type":"string"}},"required":["action"],"additionalProperties":false}}`, want: []string{"tool/universal"}},
	{why: "SQL", read: `{"inputSchema":{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"],"additionalProperties":false}}`, want: []string{"tool/excess-privilege"}},
	{why: "SQL by its description", read: `{"inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"A SQL query"}},"required":["query"],"additionalProperties":false}}`, want: []string{"tool/excess-privilege"}},
	{why: "words to search for are no SQL", read: `{"inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"Words"}},"required":["query"],"additionalProperties":false}}`},
	{why: "a command", write: `{"inputSchema":{"type":"object","properties":{"command":{"type":"string"},"idempotency_key":{"type":"string"}},"required":["command"],"additionalProperties":false}}`, want: []string{"tool/excess-privilege"}},
	{why: "a name that promises anything", write: `{"name":"do_anything"}`, want: []string{"tool/universal"}},
	{why: "a choice without a payload", write: `{"inputSchema":{"type":"object","properties":{"action":{"enum":["approve","reject"]},"idempotency_key":{"type":"string"}},"required":["action"],"additionalProperties":false}}`},
	{why: "reads and writes in one", write: `{"inputSchema":{"type":"object","properties":{"action":{"enum":["get","delete"]},"id":{"type":"string"},"idempotency_key":{"type":"string"}},"required":["action"],"additionalProperties":false}}`, want: []string{"tool/reads-and-writes"}},
	{why: "a password", read: `{"inputSchema":{"type":"object","properties":{"userPassword":{"type":"string"}},"required":["userPassword"],"additionalProperties":false}}`, want: []string{"tool/asks-secret"}},
	{why: "a card's number, inside", write: `{"inputSchema":{"type":"object","properties":{"idempotency_key":{"type":"string"},"pay":{"type":"object","properties":{"card_number":{"type":"string"}},"additionalProperties":false}},"required":["pay"],"additionalProperties":false}}`, want: []string{"tool/asks-secret"}},
	{why: "a card's number, by its description", read: `{"inputSchema":{"type":"object","properties":{"n":{"type":"string","description":"The card number"}},"required":["n"],"additionalProperties":false}}`, want: []string{"tool/asks-secret"}},
	{why: "a page's token, a flag about passwords and a maximum of tokens are no secrets", read: `{"inputSchema":{"type":"object","properties":{"page_token":{"type":"string"},"password":{"type":"boolean"},"max_tokens":{"type":"integer"}},"required":["page_token"],"additionalProperties":false}}`},
	{why: "the model chooses whose data it is", read: `{"inputSchema":{"type":"object","properties":{"user_id":{"type":"string"}},"required":["user_id"],"additionalProperties":false}}`, want: []string{"tool/excess-privilege"}},
	{why: "the model switches a check off", write: `{"inputSchema":{"type":"object","properties":{"skip_checks":{"type":"boolean"},"idempotency_key":{"type":"string"}},"required":["idempotency_key"],"additionalProperties":false}}`, want: []string{"tool/excess-privilege"}},
	{why: "everybody's data at once", write: `{"name":"delete_all_orders"}`, want: []string{"tool/excess-privilege"}},
	{why: "a list of all is a look", read: `{"name":"list_all_gifts"}`},
}

func TestToolRules(t *testing.T) {
	for _, tc := range toolRows {
		s := &lint.Set{Name: "shop", Server: true}
		if tc.read != "" {
			s.Tools = append(s.Tools, toolOf(t, soundRead, tc.read))
		}
		if tc.write != "" {
			s.Tools = append(s.Tools, toolOf(t, soundWrite, tc.write))
		}
		if diff := cmp.Diff(tc.want, ruleIDs(s.Lint())); diff != "" {
			t.Errorf("%s (-want +got):\n%s%v", tc.why, diff, s.Lint())
		}
	}
}

func ruleIDs(found []lint.Finding) []string {
	var out []string
	for i := range found {
		out = append(out, found[i].Rule)
	}
	return out
}

// project is a folder with files, by their names.
func project(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

func lintProject(tb testing.TB, dir string) []lint.Finding {
	tb.Helper()
	names, err := scenario.List(dir)
	if err != nil {
		tb.Fatal(err)
	}
	p := lint.Project{Scenarios: dir, Names: names, Golden: func(name, model, id string) string {
		return filepath.Join(dir, "golden", name, model+id+".golden")
	}}
	found, _ := p.Lint()
	return found
}
