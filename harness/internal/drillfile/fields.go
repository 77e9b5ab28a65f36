package drillfile

import (
	"regexp"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// file is a file of drills as it is written.
type file struct {
	servers    []yamlwalk.Entry[scenario.Server]
	principals []yamlwalk.Entry[scenario.Principal]
	drills     []yamlwalk.Entry[written]
}

// written is a drill as it is written.
type written struct {
	why        string
	tool       string
	run        yamlwalk.Located[scenario.Run]
	places     []yamlwalk.Entry[scenario.Run]
	effects    scenario.WrittenProbe
	args       yamlwalk.Tree
	other      *yamlwalk.Tree
	bad        []yamlwalk.Tree
	key        drill.KeySpec
	volatile   []jsondoc.Pointer
	unmarked   []string
	policies   drill.Policies
	prepare    *drill.Prepare
	batch      *drill.Batch
	another    *drill.Another
	reads      []drill.Call
	looks      []drill.Look
	timeout    time.Duration
	duplicates int
	together   bool
	keepsState bool
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

var fileFields = yamlwalk.Object[file]{
	Is: "a file of drills",
	Fields: []yamlwalk.Field[file]{
		yamlwalk.F("servers", "MCP servers by their names, as in a scenario; those of retake.yaml are known too. With hooks (points, clock, fail) more of a server can be drilled.", scenario.Servers(), func(f *file) *[]yamlwalk.Entry[scenario.Server] { return &f.servers }),
		yamlwalk.F("principals", "In whose names the tools are called, the first by default; the second tries to see what is the first one's.", scenario.Principals(), func(f *file) *[]yamlwalk.Entry[scenario.Principal] { return &f.principals }),
		yamlwalk.Must("drills", "Describe at least one drill, by its name.", yamlwalk.Then(yamlwalk.Entries("drills", nameForm, drillFields.Kind()), func(v yamlwalk.Value, d []yamlwalk.Entry[written]) {
			if len(d) == 0 {
				v.Failf("must have at least one drill")
			}
		}), func(f *file) *[]yamlwalk.Entry[written] { return &f.drills }),
	},
}

var fileKind = fileFields.Kind()

// JSONSchema describes a file of drills for editors.
func JSONSchema() ([]byte, error) { return yamlwalk.Describe("Drills of retake", fileKind) }

var drillFields = yamlwalk.Object[written]{
	Is: "a drill",
	Fields: []yamlwalk.Field[written]{
		yamlwalk.F("why", "What depends on it.", yamlwalk.Text(), func(w *written) *string { return &w.why }),
		yamlwalk.Must("tool", "Name the writing tool to drill.", yamlwalk.Text(), func(w *written) *string { return &w.tool }),
		yamlwalk.Must("run", "Say where the tools are: {mcp: NAME}, or the drilled tool's http or command.", yamlwalk.At(yamlwalk.Then(scenario.RunFields(), needReal)), func(w *written) *yamlwalk.Located[scenario.Run] { return &w.run }),
		yamlwalk.F("places", "Where other tools are, by their names. Left out, where the drilled one is.", yamlwalk.Entries("places", nameForm, yamlwalk.Then(scenario.RunFields(), needReal)), func(w *written) *[]yamlwalk.Entry[scenario.Run] { return &w.places }),
		yamlwalk.Must("effects", "Say how the tool's effects are counted in the world.", scenario.ProbeFields(), func(w *written) *scenario.WrittenProbe { return &w.effects }),
		yamlwalk.Must("args", "Give arguments that the tool accepts, without the key and a draft's id.", yamlwalk.JSONObject(), func(w *written) *yamlwalk.Tree { return &w.args }),
		yamlwalk.F("other", "Arguments that it accepts too and that mean something else. Left out, they are derived.", yamlwalk.Optional(yamlwalk.JSONObject()), func(w *written) **yamlwalk.Tree { return &w.other }),
		yamlwalk.F("bad", "Arguments that it must refuse. Left out, some that break the schema.", yamlwalk.OneOrMore(yamlwalk.JSONObject()), func(w *written) *[]yamlwalk.Tree { return &w.bad }),
		yamlwalk.F("key", "Where the idempotency key is. Left out, the tool takes none, which the drill shows.", keyFields.Kind(), func(w *written) *drill.KeySpec { return &w.key }),
		yamlwalk.F("volatile", "JSON pointers to what may differ between a result and its replay.", yamlwalk.List(pointer), func(w *written) *[]jsondoc.Pointer { return &w.volatile }),
		yamlwalk.F("not_in_fingerprint", "Arguments of which another value is still the same operation.", yamlwalk.List(yamlwalk.Text()), func(w *written) *[]string { return &w.unmarked }),
		yamlwalk.F("policies", "What the tool declares; left out, the strict policies.", policyFields.Kind(), func(w *written) *drill.Policies { return &w.policies }),
		yamlwalk.F("prepare", "The tool that makes the draft which this one commits.", yamlwalk.Optional(prepareFields.Kind()), func(w *written) **drill.Prepare { return &w.prepare }),
		yamlwalk.F("batch", "A call that does several things.", yamlwalk.Optional(batchFields.Kind()), func(w *written) **drill.Batch { return &w.batch }),
		yamlwalk.F("another", "Another tool that takes keys.", yamlwalk.Optional(anotherFields.Kind()), func(w *written) **drill.Another { return &w.another }),
		yamlwalk.F("reads", "Calls that must not write, besides the server's own reads that need no arguments.", yamlwalk.List(callFields.Kind()), func(w *written) *[]drill.Call { return &w.reads }),
		yamlwalk.F("looks", "Reading tools in which somebody else might see what was made.", yamlwalk.List(lookFields.Kind()), func(w *written) *[]drill.Look { return &w.looks }),
		yamlwalk.F("timeout", "After which a call hangs; default 10s.", yamlwalk.Duration(), func(w *written) *time.Duration { return &w.timeout }),
		yamlwalk.F("duplicates", "How many calls are made at once; default 8.", yamlwalk.Int(2), func(w *written) *int { return &w.duplicates }),
		yamlwalk.F("together", "Whether two of the server's programs may run on one state at once. One that is reached by its address alone always may.", yamlwalk.Bool(), func(w *written) *bool { return &w.together }),
		yamlwalk.F("keeps_state", "Whether a program that is started again finds what the one before has left. Left out, it does when it is told ${scratch}.", yamlwalk.Bool(), func(w *written) *bool { return &w.keepsState }),
	},
}

func needReal(v yamlwalk.Value, r scenario.Run) {
	if !r.Real() {
		v.Failf("a recording cannot be drilled; say mcp, http or command")
	}
}

var pointer = yamlwalk.Map(yamlwalk.Text(), func(v yamlwalk.Value, s string) (jsondoc.Pointer, bool) {
	p, err := jsondoc.ParsePointer(s)
	if err != nil {
		v.Failf("%v", err)
	}
	return p, err == nil
})

// object is a JSON object, passed through.
var object = yamlwalk.Map(yamlwalk.JSONObject(), func(_ yamlwalk.Value, t yamlwalk.Tree) (jsontext.Value, bool) { return t.JSON, true })

var keyFields = yamlwalk.Object[drill.KeySpec]{
	Is: "an idempotency key",
	Fields: []yamlwalk.Field[drill.KeySpec]{
		yamlwalk.Must("field", "Name the argument that holds the key.", yamlwalk.Text(), func(k *drill.KeySpec) *string { return &k.Field }),
		yamlwalk.F("from", "Who makes it; default host.", yamlwalk.Enum(tool.KeyFromModel, tool.KeyFromHost), func(k *drill.KeySpec) *tool.KeySource { return &k.From }),
		yamlwalk.F("max_length", "How long it may be.", yamlwalk.Int(1), func(k *drill.KeySpec) *int { return &k.MaxLength }),
		yamlwalk.F("pattern", "A regular expression that it matches.", yamlwalk.Map(yamlwalk.Text(), func(v yamlwalk.Value, s string) (*regexp.Regexp, bool) {
			re, err := regexp.Compile(s)
			if err != nil {
				v.Failf("is no regular expression: %v", err)
			}
			return re, err == nil
		}), func(k *drill.KeySpec) **regexp.Regexp { return &k.Pattern }),
	},
}

// words is a kind of policy: first is the word for its zero value.
func words[P ~string](first P, others ...P) yamlwalk.Kind[P] {
	return yamlwalk.Map(yamlwalk.Enum(append([]P{first}, others...)...), func(_ yamlwalk.Value, p P) (P, bool) {
		if p == first {
			p = ""
		}
		return p, true
	})
}

var policyFields = yamlwalk.Object[drill.Policies]{
	Is: "policies",
	Fields: []yamlwalk.Field[drill.Policies]{
		yamlwalk.F("missing_key", "What a call without a key comes to; default refused. allowed is a hazard, and a warning.", words("refused", drill.MissingAllowed), func(p *drill.Policies) *drill.MissingKey { return &p.MissingKey }),
		yamlwalk.F("other_payload", "What other arguments under the same key come to; default refused. conflict wants CONFLICT in the code. stored is a hazard, and a warning.", words("refused", drill.OtherConflict, drill.OtherStored), func(p *drill.Policies) *drill.OtherPayload { return &p.OtherPayload }),
		yamlwalk.F("in_flight", "What a duplicate comes to while the first call is at work; default any of the two.", words("any", drill.InFlightSame, drill.InFlightConflict), func(p *drill.Policies) *drill.InFlight { return &p.InFlight }),
		yamlwalk.F("errors", "Whether an error is stored under its key; default not cached.", words("not cached", drill.ErrorsCached), func(p *drill.Policies) *drill.Errors { return &p.Errors }),
		yamlwalk.F("expiry", "How long a key is known.", yamlwalk.Duration(), func(p *drill.Policies) *time.Duration { return &p.Expiry }),
		yamlwalk.F("expired", "What a key comes to after that; default new.", words("new", drill.ExpiredRefused, drill.ExpiredReplayed), func(p *drill.Policies) *drill.Expired { return &p.Expired }),
		yamlwalk.F("lock", "How long a reservation holds that nobody finishes; default 24h.", yamlwalk.Duration(), func(p *drill.Policies) *time.Duration { return &p.Lock }),
		yamlwalk.F("stale", "What becomes of it then; default recovered. With unknown the caller is told that the outcome is in doubt.", words("recovered", drill.StaleUnknown), func(p *drill.Policies) *drill.Stale { return &p.Stale }),
		yamlwalk.F("in_doubt", "Codes of errors that leave open what has happened, besides retryable ones and codes such as IN_PROGRESS or OUTCOME_UNKNOWN. Any other error is a claim that nothing has.", yamlwalk.List(yamlwalk.Text()), func(p *drill.Policies) *[]string { return &p.InDoubt }),
		yamlwalk.F("shared_by_tools", "Whether a key that one tool has used is refused by another.", yamlwalk.Bool(), func(p *drill.Policies) *bool { return &p.SharedByTools }),
	},
	Check: func(v yamlwalk.Value, p *drill.Policies) {
		if p.Expired != "" && p.Expiry == 0 {
			v.Failf("expired says what happens after an expiry, and none is given; say expiry too")
		}
	},
}

var prepareFields = yamlwalk.Object[drill.Prepare]{
	Is: "the making of a draft",
	Fields: []yamlwalk.Field[drill.Prepare]{
		yamlwalk.Must("tool", "Name the tool that makes the draft.", yamlwalk.Text(), func(p *drill.Prepare) *string { return &p.Tool }),
		yamlwalk.Must("args", "Give its arguments, without a key.", object, func(p *drill.Prepare) *jsontext.Value { return &p.Args }),
		yamlwalk.F("key", "The argument with its own key; left out, it takes none.", yamlwalk.Text(), func(p *drill.Prepare) *string { return &p.Key }),
		yamlwalk.Must("from", "Point to the draft's id in its result.", pointer, func(p *drill.Prepare) *jsondoc.Pointer { return &p.From }),
		yamlwalk.Must("into", "Name the argument of the drilled tool that takes the id.", yamlwalk.Text(), func(p *drill.Prepare) *string { return &p.Into }),
		yamlwalk.F("changed", "Arguments of the drilled tool that do not fit the draft.", object, func(p *drill.Prepare) *jsontext.Value { return &p.Changed }),
		yamlwalk.F("expiry", "How long a draft lives.", yamlwalk.Duration(), func(p *drill.Prepare) *time.Duration { return &p.Expiry }),
	},
}

var batchFields = yamlwalk.Object[drill.Batch]{
	Is: "a batch",
	Fields: []yamlwalk.Field[drill.Batch]{
		yamlwalk.Must("args", "Give the arguments of a call with several items, without the key.", object, func(b *drill.Batch) *jsontext.Value { return &b.Args }),
		yamlwalk.Must("items", "Say how many effects it has when all is well.", yamlwalk.Int(2), func(b *drill.Batch) *int { return &b.Items }),
		yamlwalk.F("bad", "How many of the items always fail.", yamlwalk.Int(1), func(b *drill.Batch) *int { return &b.Bad }),
		yamlwalk.F("fail", "What RETAKE_FAIL is set to so that some items fail.", yamlwalk.Text(), func(b *drill.Batch) *string { return &b.Fail }),
	},
	ExactlyOne: [][]string{{"bad", "fail"}},
}

var anotherFields = yamlwalk.Object[drill.Another]{
	Is: "another tool",
	Fields: []yamlwalk.Field[drill.Another]{
		yamlwalk.Must("tool", "Name it.", yamlwalk.Text(), func(a *drill.Another) *string { return &a.Tool }),
		yamlwalk.Must("args", "Give arguments that it accepts, without the key.", object, func(a *drill.Another) *jsontext.Value { return &a.Args }),
		yamlwalk.F("key", "The argument with its key; left out, it has the same name.", yamlwalk.Text(), func(a *drill.Another) *string { return &a.Key }),
	},
}

var callFields = yamlwalk.Object[drill.Call]{
	Is: "a call",
	Fields: []yamlwalk.Field[drill.Call]{
		yamlwalk.Must("tool", "Name the tool.", yamlwalk.Text(), func(c *drill.Call) *string { return &c.Tool }),
		yamlwalk.F("args", "Its arguments; default {}.", object, func(c *drill.Call) *jsontext.Value { return &c.Args }),
	},
}

var lookFields = yamlwalk.Object[drill.Look]{
	Is: "a look",
	Fields: []yamlwalk.Field[drill.Look]{
		yamlwalk.Must("tool", "Name the reading tool.", yamlwalk.Text(), func(l *drill.Look) *string { return &l.Tool }),
		yamlwalk.F("args", "Its arguments; default {}.", object, func(l *drill.Look) *jsontext.Value { return &l.Args }),
		yamlwalk.Must("from", "Point to the id of what was made, in the drilled tool's result.", pointer, func(l *drill.Look) *jsondoc.Pointer { return &l.From }),
		yamlwalk.F("into", "The argument that takes the id; left out, the id is looked for in the answer.", yamlwalk.Text(), func(l *drill.Look) *string { return &l.Into }),
	},
}
