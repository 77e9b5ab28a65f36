package scenario

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/schema"
	"github.com/retake-harness/retake/harness/tool"
)

// item is an entry of tools: a name, or a declaration.
type item struct {
	name text
	decl *declaration
}

// declaration is a tool as it is written.
type declaration struct {
	name          text
	description   string
	input, output *yamlwalk.Tree
	effect        tool.Effect
	key           *key
	timeout       time.Duration
	retry         tool.Retry
	maxResult     int
	approval      bool
	extra         *yamlwalk.Tree
	provider      *yamlwalk.Tree
	run           *run
}

type key struct {
	field text
	from  tool.KeySource
}

var toolItem = yamlwalk.Either("a tool's name or its declaration",
	yamlwalk.Map(yamlwalk.At(yamlwalk.Text()), func(_ yamlwalk.Value, name text) (item, bool) { return item{name: name}, true }),
	yamlwalk.Map(toolFields.Kind(), func(_ yamlwalk.Value, d declaration) (item, bool) { return item{name: d.name, decl: &d}, true }))

var toolList = yamlwalk.Either("a list of tools, or {from: an MCP server}",
	yamlwalk.Map(yamlwalk.List(toolItem), func(_ yamlwalk.Value, items []item) (toolsWritten, bool) {
		return toolsWritten{items: items}, true
	}),
	yamlwalk.Map(takeFields.Kind(), func(_ yamlwalk.Value, t takeFrom) (toolsWritten, bool) { return toolsWritten{from: &t}, true }))

// toolsWritten are the tools of a scenario: items, nil without the field, or those
// of a server.
type toolsWritten struct {
	items []item
	from  *takeFrom
}

var toolFields = yamlwalk.Object[declaration]{
	Is: "a tool",
	Fields: []yamlwalk.Field[declaration]{
		yamlwalk.Must("name", "Name the tool as the model sees it.", yamlwalk.At(yamlwalk.Pattern("a tool's name (letters, digits and _ . : -, at most 128)", toolForm)), func(d *declaration) *text { return &d.name }),
		yamlwalk.F("description", "What it does and when it may be called, as the model is told.", yamlwalk.Text(), func(d *declaration) *string { return &d.description }),
		yamlwalk.F("input", "JSON Schema of the arguments. Left out, any object is allowed.", yamlwalk.Optional(yamlwalk.JSONObject()), func(d *declaration) **yamlwalk.Tree { return &d.input }),
		yamlwalk.F("output", "JSON Schema of the result. Left out, nothing is checked.", yamlwalk.Optional(yamlwalk.JSONObject()), func(d *declaration) **yamlwalk.Tree { return &d.output }),
		yamlwalk.F("effect", "read or write. Left out, calls count as writes.", yamlwalk.Enum(tool.EffectRead, tool.EffectWrite), func(d *declaration) *tool.Effect { return &d.effect }),
		yamlwalk.F("key", "Where the idempotency key of a write is.", yamlwalk.Optional(keyFields.Kind()), func(d *declaration) **key { return &d.key }),
		yamlwalk.F("timeout", "Of one attempt; default none.", yamlwalk.Duration(), func(d *declaration) *time.Duration { return &d.timeout }),
		yamlwalk.F("retry", "How often a failed attempt is repeated; default not at all.", retryFields.Kind(), func(d *declaration) *tool.Retry { return &d.retry }),
		yamlwalk.F("max_result", "How many bytes of a result the model is shown; default 262144. What is longer is cut, and marked.", yamlwalk.Int(smallestResult), func(d *declaration) *int { return &d.maxResult }),
		yamlwalk.F("approval", "Asks a person before each call.", yamlwalk.Bool(), func(d *declaration) *bool { return &d.approval }),
		yamlwalk.F("extra", "Further members of the declaration in the request.", yamlwalk.Optional(yamlwalk.JSONObject()), func(d *declaration) **yamlwalk.Tree { return &d.extra }),
		yamlwalk.F("provider", "The declaration in the request of a tool that the provider runs, like {type: web_search_20250305, name: web_search}; nothing else but the name goes with it.", yamlwalk.Optional(yamlwalk.JSONObject()), func(d *declaration) **yamlwalk.Tree { return &d.provider }),
		yamlwalk.F("run", "Where calls go: an MCP server, an endpoint, a command. Left out, the recording answers.", yamlwalk.Optional(runFields.Kind()), func(d *declaration) **run { return &d.run }),
	},
	AtMostOne: providerAlone(),
	Check: func(v yamlwalk.Value, d *declaration) {
		if d.key == nil {
			return
		}
		if d.effect == tool.EffectRead {
			v.File().Failf(d.key.field.At, "a tool that only reads needs no idempotency key; drop key, or say effect: write")
		}
		if d.key.from == tool.KeyFromModel && d.input != nil && !d.input.Has("/properties/"+d.key.field.V) {
			v.File().Failf(d.key.field.At, "the model is to fill %q, which is no property of input; declare it there, or say from: host", d.key.field.V)
		}
	},
}

// providerAlone keeps what the host would do from a tool that it does not run.
func providerAlone() [][]string {
	var out [][]string
	for _, name := range []string{"description", "input", "output", "effect", "key", "timeout", "retry", "max_result", "approval", "extra", "run"} {
		out = append(out, []string{"provider", name})
	}
	return out
}

// smallestResult has room for the mark of a result that was cut.
const smallestResult = 100

var keyFields = yamlwalk.Object[key]{
	Is: "an idempotency key",
	Fields: []yamlwalk.Field[key]{
		yamlwalk.Must("field", "Name the argument that holds the key.", yamlwalk.At(yamlwalk.Text()), func(k *key) *text { return &k.field }),
		yamlwalk.Must("from", "Say who makes the key.", yamlwalk.Enum(tool.KeyFromModel, tool.KeyFromHost), func(k *key) *tool.KeySource { return &k.from }),
	},
}

var retryFields = yamlwalk.Object[tool.Retry]{
	Is: "a retry policy",
	Fields: []yamlwalk.Field[tool.Retry]{
		yamlwalk.Must("attempts", "All tries together.", yamlwalk.Int(1), func(r *tool.Retry) *int { return &r.Attempts }),
		yamlwalk.F("backoff", "Wait before the second try, doubled after each further one.", yamlwalk.Duration(), func(r *tool.Retry) *time.Duration { return &r.Backoff }),
	},
}

// toolFile is the table of a shared file of tools.
var toolFile = yamlwalk.Object[[]declaration]{
	Is: "a file of tools",
	Fields: []yamlwalk.Field[[]declaration]{
		yamlwalk.Must("tools", "The declarations.", yamlwalk.List(toolFields.Kind()), func(d *[]declaration) *[]declaration { return d }),
	},
}

// toolset is a shared file of tools, read.
type toolset struct {
	there    bool
	text     []byte
	decls    []tool.Decl
	runs     map[string]Run
	declared []Declared
	warnings []string
	err      error
}

func readTools(name string, text []byte, schemas *schema.Cache) *toolset {
	f := yamlwalk.Parse(name, text)
	var written []declaration
	yamlwalk.Root(f, toolFileKind, &written)
	b := builder{f: f, schemas: schemas}
	ts := &toolset{there: true, text: text, decls: make([]tool.Decl, 0, len(written))}
	for i := range written {
		d := &written[i]
		if d.name.V != "" && slices.ContainsFunc(ts.decls, func(o tool.Decl) bool { return o.Name == d.name.V }) {
			f.Failf(d.name.At, "tool %q is declared twice; drop one", d.name.V)
		}
		ts.decls = append(ts.decls, b.decl(d))
		r := d.run.place()
		ts.declared = append(ts.declared, Declared{Decl: ts.decls[i], Run: r, file: name, part: fmt.Sprintf("tools[%d]", i)})
		if r.Real() {
			if ts.runs == nil {
				ts.runs = map[string]Run{}
			}
			ts.runs[d.name.V] = r
		}
	}
	for i := range ts.declared {
		ts.declared[i].places = f.Places()
	}
	ts.warnings, ts.err = b.warnings, f.Err()
	return ts
}

// decl builds a declaration and compiles its schemas.
func (b *builder) decl(d *declaration) tool.Decl {
	out := tool.Decl{
		Name: d.name.V, Description: d.description, Effect: d.effect,
		Input: b.schema(d.input), Output: b.schema(d.output),
		Timeout: d.timeout, Retry: d.retry, MaxResult: d.maxResult, Approval: d.approval,
	}
	if d.key != nil {
		out.Key = &tool.Key{Field: d.key.field.V, From: d.key.from}
	}
	if d.extra != nil {
		out.Extra = d.extra.JSON
	}
	if d.provider != nil {
		out.Provider = d.provider.JSON
	}
	return out
}

// schema compiles a schema for its errors and gives its text.
func (b *builder) schema(t *yamlwalk.Tree) jsontext.Value {
	if t == nil || t.JSON == nil {
		return nil
	}
	s, err := b.schemas.Compile(t.JSON)
	if ce, ok := errors.AsType[*schema.CompileError](err); ok {
		for _, field := range ce.Fields {
			b.f.Failf(t.Find(field.Pointer), "the JSON Schema does not compile: %s", field)
		}
	}
	for _, pattern := range s.Unchecked() {
		b.warnf(t.At, "the pattern %q is not checked: it uses look-around or back-references", pattern)
	}
	return t.JSON
}
