package scenario

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
)

// Run says where a tool's calls go. The zero value is the tools' cassette.
type Run struct {
	Server  string // an MCP server's name
	Tool    string // with Server: its tool's name, where that is another
	HTTP    *HTTP
	Command *Command
	// Recording has calls go there only while the scenario is recorded; otherwise
	// the tools' cassette answers them.
	Recording bool
}

// Real tells whether calls go anywhere but to the cassette.
func (r Run) Real() bool { return r.Server != "" || r.HTTP != nil || r.Command != nil }

// HTTP is an endpoint that runs a tool.
type HTTP struct {
	Method  string // "" is POST
	URL     string // {name} stands for an argument
	Headers []tool.Setting
}

// Command is a program that runs a tool.
type Command struct {
	Args []string
	Env  []tool.Setting
}

// RunsTools tells whether any tool runs for real, or effects are counted, so that the run's clock is real.
func (s *Scenario) RunsTools() bool { return s.pending || len(s.Runs) > 0 || len(s.Probes) > 0 }

// RunsPrograms tells whether anything is started for the run, its agent or what its
// tools run on, so that the run's clock is real.
func (s *Scenario) RunsPrograms() bool { return s.Agent != nil || s.RunsTools() }

// FromEnv names the environment variables that the agent's program and the tools'
// places are given.
func (s *Scenario) FromEnv() []string {
	var out []string
	add := func(settings []tool.Setting) {
		for _, set := range settings {
			if set.Env != "" && !slices.Contains(out, set.Env) {
				out = append(out, set.Env)
			}
		}
	}
	if s.Agent != nil {
		add(s.Agent.Env)
	}
	for _, server := range s.Servers {
		add(server.Env)
		add(server.Headers)
	}
	for _, p := range s.Principals {
		add(p.Headers)
		add(p.Env)
	}
	for _, p := range s.Probes {
		add(p.settings())
	}
	for i := range s.Tools {
		r := s.Runs[s.Tools[i].Name]
		if r.HTTP != nil {
			add(r.HTTP.Headers)
		}
		if r.Command != nil {
			add(r.Command.Env)
		}
	}
	return out
}

// WithServerTools is the scenario with the tools that its servers have, by the
// server's name. What could not be checked before is checked now; an error is
// like Load's.
func (s *Scenario) WithServerTools(found map[string][]tool.Decl) (*Scenario, error) {
	if s.again == nil {
		return s, nil
	}
	full, err := s.again(found)
	if err != nil {
		return nil, err
	}
	out := *s
	out.Tools, out.Runs, out.Warnings = full.Tools, full.Runs, full.Warnings
	if s.recording {
		out.Runs = full.WhenRecording().Runs
	}
	out.pending, out.unasked, out.again = false, false, nil
	return &out, nil
}

// WhenRecording is the scenario as it is recorded: the tools that run only then
// do.
func (s *Scenario) WhenRecording() *Scenario {
	if len(s.recorded.runs) == 0 {
		return s
	}
	out := *s
	out.recording = true
	out.Runs = maps.Clone(s.recorded.runs)
	maps.Copy(out.Runs, s.Runs)
	for _, server := range s.recorded.servers {
		if named(out.Servers, server.Name) < 0 {
			out.Servers = append(slices.Clip(out.Servers), server)
		}
	}
	return &out
}

// onlyRecorded are the tools that run while a scenario is recorded alone, and the
// servers that they run on.
type onlyRecorded struct {
	runs    map[string]Run
	servers []Server
}

// run is where a tool runs, as it is written.
type run struct {
	server, tool text
	http         *HTTP
	command      *Command
	commandArgs  []string
	env          []tool.Setting
	cassette     bool
	when         text
}

// When a tool runs.
const (
	runsAlways    = "always"
	runsRecording = "recording"
)

var runFields = yamlwalk.Object[run]{
	Is: "where a tool runs",
	Fields: []yamlwalk.Field[run]{
		yamlwalk.F("mcp", "The name of an MCP server, declared under servers here or in retake.yaml. What the tool does not say itself (description, input, output, effect) is the server's.", yamlwalk.At(yamlwalk.Text()), func(r *run) *text { return &r.server }),
		yamlwalk.F("tool", "The tool's name on the server, where it is another one.", yamlwalk.At(yamlwalk.Text()), func(r *run) *text { return &r.tool }),
		yamlwalk.F("http", "An endpoint. Arguments that are not in its address are the JSON body, or the query of a GET.", yamlwalk.Optional(httpFields.Kind()), func(r *run) **HTTP { return &r.http }),
		yamlwalk.F("command", "A program and its arguments: gets the arguments as JSON on its standard input, and writes its result as JSON.", program, func(r *run) *[]string { return &r.commandArgs }),
		yamlwalk.F("env", "The command's environment besides PATH and HOME: NAME takes the variable over, NAME=value sets it.", Environment(), func(r *run) *[]tool.Setting { return &r.env }),
		yamlwalk.F("cassette", "true: the recording answers, as for a tool without run.", yamlwalk.Then(yamlwalk.Bool(), func(v yamlwalk.Value, yes bool) {
			if !yes {
				v.Failf("must be true; where else the tool runs is said by mcp, http or command")
			}
		}), func(r *run) *bool { return &r.cassette }),
		yamlwalk.F("when", "always (the default), or recording: calls go there only while the scenario is recorded, and what comes of them is what the recording answers later. The file has to say all that the model is told of the tool.", yamlwalk.At(yamlwalk.Enum(runsAlways, runsRecording)), func(r *run) *text { return &r.when }),
	},
	ExactlyOne: [][]string{{"mcp", "http", "command", "cassette"}},
	Check: func(v yamlwalk.Value, r *run) {
		if r.tool.V != "" && r.server.V == "" {
			v.File().Failf(r.tool.At, "tool names one of an MCP server; say mcp too")
		}
		if r.when.V != "" && r.cassette {
			v.File().Failf(r.when.At, "the cassette answers always; drop when")
		}
		if r.env != nil && r.commandArgs == nil {
			v.Failf("env is a command's; a server's environment is said under servers")
		}
		if r.commandArgs != nil {
			r.command = &Command{Args: r.commandArgs, Env: r.env}
		}
	},
}

// RunFields is the kind of where a tool runs.
func RunFields() yamlwalk.Kind[Run] {
	return yamlwalk.Map(runFields.Kind(), func(_ yamlwalk.Value, r run) (Run, bool) { return r.place(), true })
}

var httpFields = yamlwalk.Object[HTTP]{
	Is: "an endpoint",
	Fields: []yamlwalk.Field[HTTP]{
		yamlwalk.Must("url", "Say its address, like https://shop.example/orders/{id}.", webAddress, func(h *HTTP) *string { return &h.URL }),
		yamlwalk.F("method", "Default POST.", yamlwalk.Enum("POST", "PUT", "PATCH", "GET", "DELETE"), func(h *HTTP) *string { return &h.Method }),
		yamlwalk.F("headers", "Headers, each a text or {env: NAME}.", Headers(), func(h *HTTP) *[]tool.Setting { return &h.Headers }),
	},
}

var (
	serverForm   = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(=(?s:.*))?$`)
	envNameForm  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	fieldForm    = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

// The programs, each with what may stand in their arguments.
var (
	program       = programWith(Scratch)
	serverProgram = programWith(Scratch, Port, Build)
	buildProgram  = programWith(Build)
)

func programWith(names ...string) yamlwalk.Kind[[]string] {
	return yamlwalk.Then(yamlwalk.List(started(yamlwalk.Written(), names...)), func(v yamlwalk.Value, args []string) {
		if len(args) == 0 || args[0] == "" {
			v.Failf("must begin with the program, as in [shop-server, --db, shop.db]")
		}
	})
}

// webAddress is an address in which {name} stands for an argument.
var webAddress = yamlwalk.Then(yamlwalk.Text(), func(v yamlwalk.Value, s string) {
	before, _, _ := strings.Cut(s, "{")
	checkAddress(v, before)
})

// checkAddress never repeats what it is given where that may hold a password.
func checkAddress(v yamlwalk.Value, s string) {
	u, err := url.Parse(s)
	switch {
	case err == nil && u.User != nil:
		v.Failf("an address must not hold a password; put it into the environment, and send it as a header: {env: NAME}")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		v.Failf("must be an address like https://shop.example/orders/{id}")
	case strings.Contains(s, "#"):
		v.Failf("must be an address without #")
	}
}

// Environment is the kind of a list of variables.
func Environment() yamlwalk.Kind[[]tool.Setting] { return environmentWith(Scratch, Port) }

// environmentWith is a list of variables in which names may stand for something.
func environmentWith(names ...string) yamlwalk.Kind[[]tool.Setting] {
	return yamlwalk.List(yamlwalk.Map(
		started(yamlwalk.Pattern("NAME or NAME=value", variableForm), names...),
		func(_ yamlwalk.Value, s string) (tool.Setting, bool) {
			if name, value, given := strings.Cut(s, "="); given {
				return tool.Setting{Name: name, Value: value}, true
			}
			return tool.Setting{Name: s, Env: s}, true
		}))
}

// Headers is the kind of a mapping of headers.
func Headers() yamlwalk.Kind[[]tool.Setting] {
	value := yamlwalk.Either("a text or {env: NAME}",
		yamlwalk.Map(yamlwalk.Text(), func(_ yamlwalk.Value, s string) (tool.Setting, bool) { return tool.Setting{Value: s}, true }),
		yamlwalk.Object[tool.Setting]{
			Is: "a header's value",
			Fields: []yamlwalk.Field[tool.Setting]{
				yamlwalk.Must("env", "Name the environment variable.", yamlwalk.Pattern("the name of an environment variable", envNameForm), func(s *tool.Setting) *string { return &s.Env }),
				yamlwalk.F("prefix", "What stands before it, like 'Bearer '.", yamlwalk.Written(), func(s *tool.Setting) *string { return &s.Value }),
			},
		}.Kind())
	return yamlwalk.Map(yamlwalk.Entries("headers", fieldForm, value), func(_ yamlwalk.Value, entries []yamlwalk.Entry[tool.Setting]) ([]tool.Setting, bool) {
		out := make([]tool.Setting, len(entries))
		for i, e := range entries {
			out[i] = e.Value
			out[i].Name = e.Key
		}
		return out, true
	})
}

// takeFrom are the tools of a scenario that takes them from a server.
type takeFrom struct {
	server text
	names  []text // nil: all
	with   []declaration
}

var takeFields = yamlwalk.Object[takeFrom]{
	Is: "tools of a server",
	Fields: []yamlwalk.Field[takeFrom]{
		yamlwalk.Must("from", "Name the MCP server whose tools they are.", yamlwalk.At(yamlwalk.Text()), func(t *takeFrom) *text { return &t.server }),
		yamlwalk.F("names", "Only these of its tools, in this order. Left out, all.", yamlwalk.OneOrMore(yamlwalk.At(yamlwalk.Text())), func(t *takeFrom) *[]text { return &t.names }),
		yamlwalk.F("with", "Declarations that say more of the server's tools (a key, a timeout, another effect), or further tools.", yamlwalk.List(toolFields.Kind()), func(t *takeFrom) *[]declaration { return &t.with }),
	},
}

// place is the Run of what is written.
func (r *run) place() Run {
	if r == nil {
		return Run{}
	}
	return Run{Server: r.server.V, Tool: r.tool.V, HTTP: r.http, Command: r.command, Recording: r.when.V == runsRecording}
}

// add adds a tool, with where it runs.
func (b *builder) add(d tool.Decl, r Run, at yamlwalk.Pos) {
	if r.Recording {
		b.tools = append(b.tools, d)
		b.addRecorded(d.Name, r, at)
		return
	}
	if r.Server != "" {
		b.useServer(&b.used, text{V: r.Server, At: at})
		b.complete(&d, &r, at)
	}
	b.tools = append(b.tools, d)
	if !r.Real() {
		return
	}
	if b.runs == nil {
		b.runs = map[string]Run{}
	}
	b.runs[d.Name] = r
}

// addRecorded notes where a tool runs while the scenario is recorded. The server is
// not asked what it says of the tool: a replay could not ask it.
func (b *builder) addRecorded(name string, r Run, at yamlwalk.Pos) {
	if r.Server != "" {
		b.useServer(&b.recorded.servers, text{V: r.Server, At: at})
	}
	if b.recorded.runs == nil {
		b.recorded.runs = map[string]Run{}
	}
	b.recorded.runs[name] = r
}

// takeFrom adds the tools of a server, as far as they are known, and those that
// are declared beside them.
func (b *builder) takeFrom(t *takeFrom) {
	b.useServer(&b.used, t.server)
	for _, name := range b.namesOf(t) {
		if b.declared(name.V) {
			b.f.Failf(name.At, "tool %q is listed twice; drop one", name.V)
			continue
		}
		i := slices.IndexFunc(t.with, func(d declaration) bool { return d.name.V == name.V })
		if i < 0 {
			b.add(tool.Decl{Name: name.V}, Run{Server: t.server.V}, name.At)
			continue
		}
		d := &t.with[i]
		b.add(b.decl(d), d.placeOr(t.server.V), d.at())
	}
	for i := range t.with {
		if d := &t.with[i]; !b.declared(d.name.V) {
			b.add(b.decl(d), d.placeOr(t.server.V), d.at())
		}
	}
}

// namesOf are the server's tools that are asked for. Without names they are those
// that it has, which nobody knows before it is asked.
func (b *builder) namesOf(t *takeFrom) []text {
	if t.names != nil {
		return t.names
	}
	var names []text
	for _, d := range b.found[t.server.V] {
		names = append(names, text{V: d.Name, At: t.server.At})
	}
	b.pending = b.pending || b.found == nil
	return names
}

// at is where the declaration says that the tool runs on a server, or else its
// name.
func (d *declaration) at() yamlwalk.Pos {
	if d.run != nil && d.run.server.V != "" {
		return d.run.server.At
	}
	return d.name.At
}

// placeOr is where the tool runs; where it does not say, on the server.
func (d *declaration) placeOr(server string) Run {
	if d.run == nil {
		return Run{Server: server}
	}
	return d.run.place()
}

// complete fills in what the server says of a tool and the scenario does not.
func (b *builder) complete(d *tool.Decl, r *Run, at yamlwalk.Pos) {
	if b.found == nil {
		return
	}
	name := r.Tool
	if name == "" {
		name = d.Name
	}
	decls := b.found[r.Server]
	i := slices.IndexFunc(decls, func(o tool.Decl) bool { return o.Name == name })
	if i < 0 {
		b.f.Failf(at, "the MCP server %q has no tool %q%s", r.Server, name, suggest.Hint(name, names(decls)))
		return
	}
	said := &decls[i]
	d.Hints = said.Hints
	if d.Description == "" {
		d.Description = said.Description
	}
	if d.Effect == tool.EffectUndeclared {
		d.Effect = said.Effect
	}
	if d.Input == nil {
		d.Input = b.serverSchema(said.Input, at, name, "input")
		if d.Key != nil && d.Key.From == tool.KeyFromHost {
			d.Input = withoutArgument(d.Input, d.Key.Field)
		}
	}
	if d.Output == nil {
		d.Output = b.serverSchema(said.Output, at, name, "output")
	}
}

// serverSchema is a schema that a server gives, compiled for its errors.
func (b *builder) serverSchema(raw jsontext.Value, at yamlwalk.Pos, name, which string) jsontext.Value {
	if raw == nil {
		return nil
	}
	if _, err := b.schemas.Compile(raw); err != nil {
		b.f.Failf(at, "the server's tool %q: its %s schema does not compile: %v; mend the server", name, which, err)
	}
	return raw
}

// withoutArgument is a schema of arguments without the one that the host fills in:
// the model is not asked for it.
func withoutArgument(raw jsontext.Value, name string) jsontext.Value {
	var written struct {
		Required []string `json:"required"`
	}
	if raw == nil || json.Unmarshal(raw, &written) != nil {
		return raw
	}
	places := []string{"/properties/" + jsondoc.Escape(name)}
	for i, r := range written.Required {
		if r == name {
			places = append(places, "/required/"+strconv.Itoa(i))
		}
	}
	pointers, err := jsondoc.ParsePointers(places)
	if err != nil {
		return raw
	}
	rest, err := jsondoc.Remove(nil, raw, pointers)
	if err != nil {
		return raw
	}
	return rest
}
