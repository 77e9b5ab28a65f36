package scenario

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
)

// Probe says how the effects of a tool are counted in the world itself: one of
// SQL, Tool and HTTP.
type Probe struct {
	Of   string // the tool whose effects they are
	SQL  *SQLProbe
	Tool *ToolProbe
	HTTP *HTTP // a GET
	// Pointer is where the count is in what Tool or HTTP says: a whole number, or
	// what has as many members.
	Pointer jsondoc.Pointer
	Matches *regexp.Regexp // counts where it matches the text, instead of Pointer; nil: the answer is JSON
}

// SQLProbe counts by a query.
type SQLProbe struct {
	// Database is its address, sqlite:FILE or postgres://…; ${scratch} stands for the
	// run's own folder.
	Database tool.Setting
	Query    string
}

// ToolProbe counts by what a reading tool says.
type ToolProbe struct {
	Server string // the MCP server that has the tool; "" means a tool of the scenario
	Name   string
	Args   jsontext.Value
}

// settings are what the probe is given.
func (p *Probe) settings() []tool.Setting {
	switch {
	case p.SQL != nil:
		return []tool.Setting{p.SQL.Database}
	case p.HTTP != nil:
		return p.HTTP.Headers
	}
	return nil
}

// Shared tells whether what is counted outlives the run, so that other runs may
// change it.
func (p *Probe) Shared(s *Scenario) bool {
	switch {
	case p.SQL != nil:
		return !strings.Contains(p.SQL.Database.Value, "${"+Scratch+"}")
	case p.Tool != nil && p.Tool.Server != "":
		i := named(s.Servers, p.Tool.Server)
		return i >= 0 && s.Servers[i].Command == nil
	case p.Tool != nil:
		i := named(s.Servers, s.Runs[p.Tool.Name].Server)
		return i < 0 || s.Servers[i].Command == nil
	}
	return true
}

// WrittenProbe is a probe as a file says it.
type WrittenProbe struct {
	sql     *SQLProbe
	tool    text
	server  text
	args    *yamlwalk.Tree
	http    *HTTP
	pointer jsondoc.Pointer
	matches *regexp.Regexp
}

// Probe is what the file says, of the tool's effects.
func (w *WrittenProbe) Probe(of string) Probe {
	p := Probe{Of: of, SQL: w.sql, HTTP: w.http, Pointer: w.pointer, Matches: w.matches}
	if w.tool.V != "" {
		p.Tool = &ToolProbe{Server: w.server.V, Name: w.tool.V, Args: jsontext.Value("{}")}
		if w.args != nil {
			p.Tool.Args = w.args.JSON
		}
	}
	return p
}

// ProbeFields is the kind of a probe.
func ProbeFields() yamlwalk.Kind[WrittenProbe] {
	return yamlwalk.Object[WrittenProbe]{
		Is: "a probe",
		Fields: []yamlwalk.Field[WrittenProbe]{
			yamlwalk.F("sql", "A query on the tool's database.", yamlwalk.Optional(sqlProbe.Kind()), func(w *WrittenProbe) **SQLProbe { return &w.sql }),
			yamlwalk.F("tool", "A tool that reads; with mcp one of that server, which the model need not be shown.", yamlwalk.At(yamlwalk.Text()), func(w *WrittenProbe) *text { return &w.tool }),
			yamlwalk.F("mcp", "The server that has the tool.", yamlwalk.At(yamlwalk.Text()), func(w *WrittenProbe) *text { return &w.server }),
			yamlwalk.F("args", "What the tool is called with; default {}.", yamlwalk.Optional(yamlwalk.JSONObject()), func(w *WrittenProbe) **yamlwalk.Tree { return &w.args }),
			yamlwalk.F("http", "An address that is read with GET.", yamlwalk.Optional(httpProbe.Kind()), func(w *WrittenProbe) **HTTP { return &w.http }),
			yamlwalk.F("pointer", "JSON pointer to the count in what the tool or the address says: a whole number, or an array or object whose members are counted; with a * what it names is counted.", countPointer, func(w *WrittenProbe) *jsondoc.Pointer { return &w.pointer }),
			yamlwalk.F("matches", "A regular expression; where it matches the text of what the tool or the address says is counted.", expression, func(w *WrittenProbe) **regexp.Regexp { return &w.matches }),
		},
		ExactlyOne: [][]string{{"sql", "tool", "http"}},
		AtMostOne:  [][]string{{"sql", "pointer", "matches"}},
		Needs:      [][2]string{{"mcp", "tool"}, {"args", "tool"}},
	}.Kind()
}

var countPointer = yamlwalk.Map(yamlwalk.Written(), func(v yamlwalk.Value, s string) (jsondoc.Pointer, bool) {
	p, err := jsondoc.ParsePointer(s)
	if err != nil {
		v.Failf("%v", err)
	}
	return p, err == nil
})

var sqlProbe = yamlwalk.Object[SQLProbe]{
	Is: "a query on a database",
	Fields: []yamlwalk.Field[SQLProbe]{
		yamlwalk.Must("database", "Give its address: sqlite:FILE, postgres://…, or {env: NAME}.", yamlwalk.Either("an address or {env: NAME}", yamlwalk.Map(database, func(_ yamlwalk.Value, s string) (tool.Setting, bool) {
			return tool.Setting{Name: "database", Value: s}, true
		}), databaseEnv), func(q *SQLProbe) *tool.Setting { return &q.Database }),
		yamlwalk.Must("query", "Count in SQL, as in select count(*) from orders. It gives one whole number.", yamlwalk.Text(), func(q *SQLProbe) *string { return &q.Query }),
	},
}

var database = yamlwalk.Then(started(yamlwalk.Text(), Scratch), func(v yamlwalk.Value, s string) {
	if file, ok := strings.CutPrefix(s, "sqlite:"); ok && file != "" {
		return
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql":
		v.Failf("must be an address like sqlite:${scratch}/shop.db or postgres://localhost/shop")
	case u.User != nil:
		if _, secret := u.User.Password(); secret {
			v.Failf("an address must not hold a password; put it into the environment: {env: NAME}")
		}
	}
})

var databaseEnv = yamlwalk.Object[tool.Setting]{
	Is: "a database's address",
	Fields: []yamlwalk.Field[tool.Setting]{
		yamlwalk.Must("env", "Name the environment variable.", yamlwalk.Pattern("the name of an environment variable", envNameForm), func(s *tool.Setting) *string { return &s.Env }),
	},
	Check: func(_ yamlwalk.Value, s *tool.Setting) { s.Name = "database" },
}.Kind()

var httpProbe = yamlwalk.Object[HTTP]{
	Is: "an address",
	Fields: []yamlwalk.Field[HTTP]{
		yamlwalk.Must("url", "Say its address, like https://shop.example/orders/count.", webAddress, func(h *HTTP) *string { return &h.URL }),
		yamlwalk.F("headers", "Headers, each a text or {env: NAME}.", Headers(), func(h *HTTP) *[]tool.Setting { return &h.Headers }),
	},
	Check: func(_ yamlwalk.Value, h *HTTP) { h.Method = "GET" },
}

// probes checks that each probe counts for a tool that there is, by something
// that answers.
func (b *builder) probes(written []yamlwalk.Entry[WrittenProbe]) []Probe {
	var out []Probe
	b.probed, b.probeAt = map[string]bool{}, map[string]yamlwalk.Pos{}
	for _, e := range written {
		b.needTool(text{V: e.Key, At: e.At}, "")
		w := e.Value
		switch {
		case w.tool.V == "":
		case w.server.V != "":
			b.useServer(&b.used, w.server)
		default:
			b.needReal(w.tool)
		}
		b.probed[e.Key], b.probeAt[e.Key] = true, e.At
		out = append(out, w.Probe(e.Key))
	}
	return out
}

// needReal wants a tool of the scenario that runs: a recording counts nothing.
func (b *builder) needReal(name text) {
	i := slices.IndexFunc(b.tools, func(d tool.Decl) bool { return d.Name == name.V })
	switch {
	case i < 0 && b.pending:
	case i < 0:
		b.f.Failf(name.At, "unknown tool %q%s; name the server that has it with mcp, or declare it", name.V, suggest.Hint(name.V, names(b.tools)))
	case !b.runs[name.V].Real():
		b.f.Failf(name.At, "the tool %q answers from its recording, which counts nothing; say where it runs", name.V)
	}
}

// doubtEffects wants each probe to be held against something, and tells where an
// expectation about a tool that really runs is held against messages alone.
func (b *builder) doubtEffects(w *expect) {
	expected := map[string]bool{}
	for _, e := range w.effects {
		expected[e.Key] = true
		if b.runs[e.Key].Real() && !b.probed[e.Key] {
			b.warnf(e.At, "the effects of %q are counted by the calls that reach it, which says nothing of what it did; say under effects how they are counted in the world", e.Key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.probed)) {
		if !expected[name] && b.f.Err() == nil {
			b.f.Failf(b.probeAt[name], "the effects of %q are counted, and held against nothing; say how many there have to be, under expect: effects", name)
		}
	}
}
