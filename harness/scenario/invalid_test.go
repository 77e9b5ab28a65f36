package scenario_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
)

type invalidRow struct {
	why, text string
	want      string // the error's lines without the file
	editor    bool
}

// invalid are scenarios that must be refused, each for one reason. Those that
// say editor are refused by the JSON Schema too.
var invalid = []invalidRow{
	{"an empty file", "", `1:1: the file is empty`, false},
	{"only a comment", "# later\n", `1:1: the file is empty`, false},
	{"no mapping", "- a\n", `1:1: must be a scenario, is a list`, true},
	{"no YAML", "why: [a\n", `2:1: the file is not valid YAML: did not find expected ',' or ']', while parsing a flow sequence that begins at 1:6`, false},
	{"a binary file", "why: \x00\x01", `1:6: control character '\x00'; write it as an escape in double quotes`, false},
	{"Latin-1", "why: caf\xe9\n", `1:9: the text is not UTF-8`, false},
	{"UTF-16", "\xff\xfew\x00", `1:1: the file is UTF-16; save it as UTF-8`, false},
	{"two documents", minimal + "---\nwhy: b\n", `4:1: the file holds several documents (---); keep one a file`, false},
	{
		"all that is missing at once", "labels: []\n",
		"1:1: \"why\" is missing: say what this scenario is there to show\n" +
			"1:1: \"owner\" is missing: name the person or team that acts when it fails\n" +
			`1:1: one of "task", "turns" is missing`, true,
	},
	{"an opening message by nobody", valid + "opening: [{}]\n", `5:11: one of "system", "developer", "user", "assistant" is missing`, true},
	{"an opening message by two", valid + "opening: [{user: a, assistant: b}]\n", `5:11: "system", "developer", "user", "assistant" exclude each other; keep one`, true},
	{"an opening message by somebody else", valid + "opening: [{tool: a}]\n", "5:11: one of \"system\", \"developer\", \"user\", \"assistant\" is missing\n" +
		`5:12: unknown field "tool"; known here are system, developer, user, assistant`, true},
	{"a provider's tool with what is the host's", valid + "tools: [{name: s, provider: {type: web_search}, timeout: 1s}]\n", `5:9: "provider", "timeout" exclude each other; keep one`, true},
	{"task and turns", valid + "turns: [a]\n", `1:1: "task", "turns" exclude each other; keep one`, true},
	{"model and models", valid + "models: [b]\n", `1:1: "model", "models" exclude each other; keep one`, true},
	{"no model at all", minimal, `1:1: no model to run; say model, or default_models in retake.yaml`, false},
	{"a misspelled field", valid + "lables: [a]\n", `5:1: unknown field "lables" (did you mean "labels"?)`, true},
	{"a misspelled field deep down", valid + "expect:\n  calls:\n    - tool: x\n      argz: {}\n", `8:7: unknown field "argz" (did you mean "args"?)`, true},
	{"an unlike field says what there is", valid + "limits: {money: 3}\n", `5:10: unknown field "money"; known here are iterations, tokens, tool_calls, time, parallel`, true},
	{"a field twice", valid + "why: again\n", `5:1: "why" is given twice; drop one`, false},
	{"an argument twice", valid + "tools: [{name: x}]\nexpect: {calls: [{tool: x, args: {a: 1, a: 2}}]}\n", `6:41: "a" is given twice; drop one`, false},
	{"a range without a bound", valid + "expect: {iterations: {}}\n", `5:22: allows every number; give max, or a min of at least 1`, true},
	{"a range that allows everything", valid + "expect: {tool_calls: {min: 0}}\n", `5:22: allows every number; give max, or a min of at least 1`, false},
	{"an answer with nothing in it", valid + "expect: {answer: {contains: ['']}}\n", `5:30: must not be empty: every answer has that`, true},
	{"the same without a list", valid + "expect: {answer: {contains: ''}}\n", `5:29: must not be empty: every answer has that`, true},
	{"an answer without a check", valid + "expect: {answer: {}}\n", `5:18: checks nothing; give one of equals, contains, regexp, schema, or drop the field`, true},
	{"a blank text", "why: ' '\nowner: o\ntask: t\nmodel: m\n", `1:6: must not be empty`, true},
	{"a field without a value", "why:\nowner: o\ntask: t\nmodel: m\n", `1:5: has no value; must be a text`, true},
	{"a number for a text", valid + "rollback: 12\n", `5:11: must be a text, is 12; put it in quotes`, true},
	{"a list for a text", valid + "rollback: [a]\n", `5:11: must be a text, is a list`, true},
	{"a word for a truth value", valid + "stream: yes\n", `5:9: must be true or false, is "yes"`, true},
	{"a text for a number", valid + "max_tokens: many\n", `5:13: must be a whole number of at least 1, is "many"`, true},
	{"a fraction", valid + "max_tokens: 1.5\n", `5:13: must be a whole number of at least 1, is 1.5`, true},
	{"a number that is too small", valid + "limits: {iterations: 0}\n", `5:22: must be a whole number of at least 1, is 0`, true},
	{"a time without a unit", valid + "limits: {time: 10}\n", `5:16: must be a time with its unit, like 500ms, 10s or 2m, is 10 without a unit`, true},
	{"a negative time", valid + "limits: {time: -10s}\n", `5:16: must be a time with its unit, like 500ms, 10s or 2m, is "-10s"`, true},
	{"a misspelled word", valid + "on_partial: stpo\n", `5:13: must be one of report, stop, is "stpo" (did you mean "stop"?)`, true},
	{"an unknown API", valid + "api: openai\n", `5:6: must be one of anthropic-messages, openai-chat, openai-responses, gemini, is "openai"`, true},
	{"a class that ends no run", valid + "expect: {outcome: cassette_miss}\n", `5:19: must be one of completed, `, true},
	{"an expression that does not compile", valid + "expect: {answer: {regexp: '(a'}}\n", `5:27: "(a" is no regular expression: missing closing )`, false},
	{"a schema that does not compile", valid + "expect:\n  answer:\n    schema:\n      type: object\n      properties:\n        a: {type: strng}\n", `10:13: the JSON Schema does not compile: /properties/a/type: must be one of "array", "boolean", "integer", "null", "number", "object", "string", is "strng" (did you mean "string"?)`, false},
	{"a range the wrong way round", valid + "expect: {iterations: {min: 3, max: 2}}\n", `5:22: min is 3 and max only 2; swap them`, false},
	{"a label with a blank", valid + "labels: [a b]\n", `5:10: must be a label of letters, digits and _ . : -, is "a b"`, true},
	{"a pointer without its slash", valid + "replay: {ignore: [metadata]}\n", `5:19: must be a JSON pointer like /metadata/user_id, is "metadata"`, true},
	{"a merge key", "why: w\nowner: o\ntask: t\nmodel: m\nlimits:\n  <<: {tokens: 1}\n", `6:3: merging with << is not supported; write the fields out, or use an alias for the whole value`, true},
	{"a tag", valid + "rollback: !!binary aGk=\n", `5:11: the tag !!binary is not known here; drop it`, false},
	{"an anchor that is not there", valid + "rollback: *x\n", `5:11: the file is not valid YAML: unknown anchor 'x' referenced`, false},
	{"an alias to itself", valid + "params: {a: &a [*a]}\n", `5:13: nested deeper than 100 levels`, false},
	{"aliases that unfold without end", valid + bomb, `9:38: the aliases unfold to more than 10000 values`, false},
	{"a list as a name", valid + "? [a]\n: b\n", `5:3: a field's name must be a word`, false},
	{"an unclear word", valid + "params: {zip: 017}\n", `5:15: 017 is a number, truth value or null to some readers and text to others; write it as JSON does, or in quotes as text`, false},
	{"another unclear word", valid + "params: {a: [~]}\n", `5:14: ~ is a number, truth value or null to some readers and text to others; write it as JSON does, or in quotes as text`, false},
	{"a parameter that is a field", valid + "params: {max_tokens: 1}\n", `5:10: "max_tokens" is a matter of the scenario's own fields; say it there`, false},
	{"an unknown placeholder", valid + "inputs: {home: x}\nsystem: in ${hmoe} and ${home}\n", `6:9: unknown placeholder ${hmoe} (did you mean "home"?); declare it under inputs, or write $${ for a literal ${`, false},
	{"no placeholder", valid + "system: 'echo ${HOME:-x}'\n", `5:9: "${HOME:-x}" is no placeholder; write ${name}, or $${ for a literal ${`, false},
	{"an open placeholder", valid + "system: 'echo ${home'\n", `5:9: "${home" is no placeholder; write ${name}, or $${ for a literal ${`, false},
	{"an input that nothing uses", valid + "inputs: {home: x}\n", `5:10: input "home" is never used; put ${home} into system, opening, task or turns, or drop it`, false},
	{"a tool without a shared file", valid + "tools: [get_weather]\n", `5:9: unknown tool "get_weather": no tools.yaml lies beside the scenario; declare the tool here, or name its file with tools_from`, false},
	{"a shared file that is not there", valid + "tools_from: ../tools.yaml\n", `5:13: there is no file "../tools.yaml"; the path is relative to the scenario's folder`, false},
	{"an absolute path", valid + "tools_from: /etc/tools.yaml\n", `5:13: tools_from must be relative to the scenario's folder, is "/etc/tools.yaml"`, false},
	{"a tool twice", valid + "tools: [{name: a}, {name: a}]\n", `5:27: tool "a" is listed twice; drop one`, false},
	{"a name that no API takes", valid + "tools: [{name: a b}]\n", `5:16: must be a tool's name (letters, digits and _ . : -, at most 128), is "a b"`, true},
	{"a guard on no tool", valid + "tools: [{name: charge_card}]\nguard: [{tool: chrage_card, reason: r}]\n", `6:16: unknown tool "chrage_card" (did you mean "charge_card"?); declare it under tools`, false},
	{"a choice of no tool", valid + "tools: [{name: a}]\ntool_choice: {tool: bbb}\n", `6:21: unknown tool "bbb"; declare it under tools`, false},
	{"any without tools", valid + "tool_choice: any\n", `5:14: tool_choice any asks for a call, and the scenario has no tools`, false},
	{"an expected call of no tool", valid + "expect: {calls: [get_weather]}\n", `5:18: unknown tool "get_weather"; declare it under tools; where the model is meant to call a tool that is not there, say undeclared: true`, false},
	{"undeclared, and declared", valid + "tools: [{name: a}]\nexpect: {calls: [{tool: a, undeclared: true}]}\n", `6:25: tool "a" is declared; drop undeclared`, false},
	{"effects of no tool", valid + "expect: {effects: {create_order: 1}}\n", `5:20: unknown tool "create_order"; declare it under tools`, false},
	{"a misspelled matcher", valid + "tools: [{name: a}]\nexpect: {calls: [{tool: a, args: {x: {contians: b}}}]}\n", `6:38: "contians" is near the matcher "contains": write that, or {equals: {contians: …}} for an argument that is such an object`, false},
	{"two matchers", valid + "tools: [{name: a}]\nexpect: {calls: [{tool: a, args: {x: {contains: b, regexp: c}}}]}\n", `6:38: a matcher says one of date, contains, regexp, number (with tolerance) and equals; put an object that is meant as it stands under equals`, false},
	{"a tolerance of nothing", valid + "tools: [{name: a}]\nexpect: {calls: [{tool: a, args: {x: {tolerance: 1}}}]}\n", `6:38: a matcher says one of`, false},
	{"a date that is none", valid + "tools: [{name: a}]\nexpect: {calls: [{tool: a, args: {x: {date: 14 July}}}]}\n", `6:39: date must be a day like 2026-07-14, is "14 July"`, false},
	{"a number that is none", valid + "tools: [{name: a}]\nexpect: {calls: [{tool: a, args: {x: {number: b}}}]}\n", `6:39: number must be a number, is "b"`, false},
	{"a key for a read", valid + "tools: [{name: a, effect: read, key: {field: k, from: host}}]\n", `5:46: a tool that only reads needs no idempotency key; drop key, or say effect: write`, false},
	{"a key that the model cannot fill", valid + "tools: [{name: a, input: {type: object}, key: {field: k, from: model}}]\n", `5:55: the model is to fill "k", which is no property of input; declare it there, or say from: host`, false},
	{"a judge without a question", valid + "expect: {judge: [{answers: [a, b], accept: a, model: m}]}\n", `5:18: "question" is missing: what the model is asked about the run, so that one of the answers fits`, true},
	{"a judge with one answer", valid + "expect: {judge: [{question: q, answers: [a], accept: a, model: m}]}\n", `5:42: with one allowed answer there is nothing to find out; give at least two`, false},
	{"an answer of a judge twice", valid + "expect: {judge: [{question: q, answers: [a, A], accept: a, model: m}]}\n", `5:45: the answer "A" is listed twice (letter case does not count); drop one`, false},
	{"an accepted answer that is none", valid + "expect: {judge: [{question: q, answers: [yes, no], accept: yess, model: m}]}\n", `5:60: "yess" is none of the answers (did you mean "yes"?); list it there too`, false},
	{"every answer is accepted", valid + "expect: {judge: [{question: q, answers: [a, b], accept: [a, b], model: m}]}\n", `5:58: every answer is accepted, so nothing is checked; drop one here`, false},
	{"an answer of two lines", valid + "expect: {judge: [{question: q, answers: [a, \"b\\nc\"], accept: a, model: m}]}\n", `5:45: must be an answer of one line, without spaces around it, of at most 100 bytes`, false},
	{"a judge that is shown something else", valid + "expect: {judge: [{question: q, answers: [a, b], accept: a, model: m, about: calls}]}\n", `5:77: must be one of answer, transcript, is "calls"`, true},
	{"a question twice", valid + "expect: {judge: [{question: q, answers: [a, b], accept: a, model: m}, {question: q, answers: [a, b], accept: b, model: m}]}\n", `5:71: asks the same as another one; drop one, and list the answers that are accepted in the other`, false},
	{"several at once, in the file's order", valid + "stream: 1\nlimits: {tokens: x}\napi: y\n", "5:9: must be true or false, is 1\n6:18: must be a whole number of at least 1, is \"x\"\n7:6: must be one of ", true},
}

const valid = minimal + "model: m\n"

var bomb = `params:
  a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
  b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
  c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
  d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
  e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]
  f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]
  g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f, *f]
`

func TestInvalid(t *testing.T) {
	for _, tc := range slices.Concat(invalid, invalidFaults) {
		t.Run(tc.why, func(t *testing.T) {
			_, err := loadText(t, tc.text, scenario.Options{})
			if failure.Of(err) != failure.ScenarioInvalid {
				t.Fatalf("%s: got %v (class %q), want class %q", tc.why, err, failure.Of(err), failure.ScenarioInvalid)
			}
			got, want := strings.Split(err.Error(), "\n"), strings.Split(tc.want, "\n")
			for i := range got {
				_, got[i], _ = strings.Cut(got[i], "s.yaml:")
				if i < len(want) && strings.HasPrefix(got[i], want[i]) {
					got[i] = want[i]
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.why, diff)
			}
			checkProblems(t, err)
		})
	}
}

// quotedText is what a message cites.
var quotedText = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|'[^']*'")

// checkProblems holds every invalid scenario's error against what is promised.
func checkProblems(t *testing.T, err error) {
	t.Helper()
	var ps scenario.Problems
	if !errors.As(err, &ps) {
		t.Errorf("%v is no Problems", err)
	}
	for _, p := range ps {
		if p.Pos.Line < 1 || p.Pos.Column < 1 {
			t.Errorf("%q has no position", p.Message)
		}
		own := quotedText.ReplaceAllString(p.Message, "")
		for _, bad := range []string{"map[", "libyaml", "struct", "interface", "jsontext", "%!"} {
			if strings.Contains(own, bad) {
				t.Errorf("%q shows %q", p.Message, bad)
			}
		}
	}
}

func TestUnknownModel(t *testing.T) {
	_, err := loadText(t, minimal+"model: claude-opus-4.8\n", scenario.Options{Known: []string{"gpt-5.5-mini", "claude-opus-4-8"}})
	want := `4:8: unknown model "claude-opus-4.8" (did you mean "claude-opus-4-8"?); describe it under models in retake.yaml`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestInvalidToolsFile(t *testing.T) {
	for _, tc := range []struct{ why, text, want string }{
		{"a schema that does not compile", "tools:\n  - name: a\n    input: {properties: {x: {type: 7}}}\n", `tools.yaml:3:30: the JSON Schema does not compile: /properties/x/type: `},
		{"a tool twice", "tools: [{name: a}, {name: a}]\n", `tools.yaml:1:27: tool "a" is declared twice; drop one`},
		{"a reference to the network", "tools: [{name: a, input: {$ref: 'https://example.com/a'}}]\n", `tools.yaml:1:26: the JSON Schema does not compile: refers to "https://example.com/a", which lies outside the schema`},
		{"a misspelled field", "tools: [{name: a, inputs: {}}]\n", `tools.yaml:1:19: unknown field "inputs" (did you mean "input"?)`},
		{"a bare list", "- name: a\n", `tools.yaml:1:1: must be a file of tools, is a list`},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "s.yaml"), valid)
		write(t, filepath.Join(dir, "tools.yaml"), tc.text)
		_, err := scenario.Load(dir, "s", scenario.Options{})
		if failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s:\n got %v\nwant %s", tc.why, err, tc.want)
		}
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	_, err := loadText(t, valid+"labels: [a b, a b, a b, a b, a b, a b, a b, a b, a b, a b, a b, a b]\n", scenario.Options{})
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 11 || !strings.HasSuffix(lines[10], "and 2 more") {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func TestWarnsOfUncheckedPatterns(t *testing.T) {
	s := load(t, valid+"tools: [{name: a, input: {properties: {x: {pattern: '^(?!b)'}}}}]\n", scenario.Options{})
	if len(s.Warnings) != 1 || !strings.HasSuffix(s.Warnings[0], `s.yaml:5:26: the pattern "^(?!b)" is not checked: it uses look-around or back-references`) {
		t.Errorf("got %q", s.Warnings)
	}
}

func TestSpellings(t *testing.T) {
	plain := load(t, valid, scenario.Options{})
	for _, tc := range []struct{ why, text string }{
		{"CRLF", strings.ReplaceAll(valid, "\n", "\r\n")},
		{"a byte order mark", "\ufeff" + valid},
		{"one line", "{why: w, owner: o, task: t, model: m}"},
		{"JSON", `{"why": "w", "owner": "o", "task": "t", "model": "m"}`},
	} {
		s := load(t, tc.text, scenario.Options{})
		if s.Why != plain.Why || s.Turns[0] != plain.Turns[0] || s.Models[0] != plain.Models[0] {
			t.Errorf("%s: got %+v", tc.why, s)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, tc := range slices.Concat(invalid, invalidFaults) {
		f.Add(tc.text)
	}
	for _, name := range []string{"travel/umbrella", "orders/everything"} {
		text, err := os.ReadFile(filepath.Join(samples, name+".yaml"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	dir, editor := f.TempDir(), editorSchema(f)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scenario.Parse(filepath.Join(dir, "s.yaml"), []byte(text), scenario.Options{})
		if err != nil {
			checkProblems(t, err)
			return
		}
		if s.Why == "" || s.Owner == "" || len(s.Turns) == 0 || len(s.Models) == 0 {
			t.Errorf("accepted without what is mandatory: %+v", s)
		}
		checkEditorAccepts(t, editor, text)
	})
}
