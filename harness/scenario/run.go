package scenario

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/tool"
)

// Run says where a tool's calls go. The zero value is the tools' cassette.
type Run struct {
	Server  string // an MCP server's name
	Tool    string // with Server: its tool's name, where that is another
	HTTP    *HTTP
	Command *Command
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

// Server says how an MCP server is reached: by Command or by URL.
type Server struct {
	Name    string
	Command []string
	Env     []tool.Setting
	URL     string
	Headers []tool.Setting
	Timeout time.Duration // for connecting, and for each call; 0 is 30 s
}

// RunsTools tells whether any tool runs for real, so that the run's clock is real.
func (s *Scenario) RunsTools() bool { return s.pending || len(s.Runs) > 0 }

// FromEnv names the environment variables that the tools' places are given.
func (s *Scenario) FromEnv() []string {
	var out []string
	add := func(settings []tool.Setting) {
		for _, set := range settings {
			if set.Env != "" && !slices.Contains(out, set.Env) {
				out = append(out, set.Env)
			}
		}
	}
	for _, server := range s.Servers {
		add(server.Env)
		add(server.Headers)
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
	out.pending, out.unasked, out.again = false, false, nil
	return &out, nil
}

// run is where a tool runs, as it is written.
type run struct {
	server, tool text
	http         *HTTP
	command      *Command
	commandArgs  []string
	env          []tool.Setting
	cassette     bool
}

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
	},
	ExactlyOne: [][]string{{"mcp", "http", "command", "cassette"}},
	Check: func(v yamlwalk.Value, r *run) {
		if r.tool.V != "" && r.server.V == "" {
			v.File().Failf(r.tool.At, "tool names one of an MCP server; say mcp too")
		}
		if r.env != nil && r.commandArgs == nil {
			v.Failf("env is a command's; a server's environment is said under servers")
		}
		if r.commandArgs != nil {
			r.command = &Command{Args: r.commandArgs, Env: r.env}
		}
	},
}

var httpFields = yamlwalk.Object[HTTP]{
	Is: "an endpoint",
	Fields: []yamlwalk.Field[HTTP]{
		yamlwalk.Must("url", "Say its address, like https://shop.example/orders/{id}.", webAddress, func(h *HTTP) *string { return &h.URL }),
		yamlwalk.F("method", "Default POST.", yamlwalk.Enum("POST", "PUT", "PATCH", "GET", "DELETE"), func(h *HTTP) *string { return &h.Method }),
		yamlwalk.F("headers", "Headers, each a text or {env: NAME}.", Headers(), func(h *HTTP) *[]tool.Setting { return &h.Headers }),
	},
}

// ServerFields is the kind of an MCP server's description; the configuration has
// it too.
func ServerFields() yamlwalk.Kind[Server] {
	return yamlwalk.Object[Server]{
		Is: "an MCP server",
		Fields: []yamlwalk.Field[Server]{
			yamlwalk.F("command", "The program and its arguments, which speaks over its standard input and output.", program, func(s *Server) *[]string { return &s.Command }),
			yamlwalk.F("env", "Its environment besides PATH and HOME: NAME takes the variable over, as a secret; NAME=value sets it.", Environment(), func(s *Server) *[]tool.Setting { return &s.Env }),
			yamlwalk.F("url", "Its address, for streamable HTTP.", webAddress, func(s *Server) *string { return &s.URL }),
			yamlwalk.F("headers", "Headers of each request, each a text or {env: NAME}.", Headers(), func(s *Server) *[]tool.Setting { return &s.Headers }),
			yamlwalk.F("timeout", "For connecting, and for each call; default 30s.", yamlwalk.Duration(), func(s *Server) *time.Duration { return &s.Timeout }),
		},
		ExactlyOne: [][]string{{"command", "url"}},
		AtMostOne:  [][]string{{"env", "url"}, {"headers", "command"}},
	}.Kind()
}

// Servers is the kind of a set of MCP servers by their names.
func Servers() yamlwalk.Kind[[]yamlwalk.Entry[Server]] {
	return yamlwalk.Entries("MCP servers", serverForm, ServerFields())
}

var (
	serverForm   = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(=(?s:.*))?$`)
	envNameForm  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	fieldForm    = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

var program = yamlwalk.Then(yamlwalk.List(yamlwalk.Written()), func(v yamlwalk.Value, args []string) {
	if len(args) == 0 || args[0] == "" {
		v.Failf("must begin with the program, as in [shop-server, --db, test.sqlite]")
	}
})

// webAddress never repeats what it is given where that may hold a password.
var webAddress = yamlwalk.Then(yamlwalk.Text(), func(v yamlwalk.Value, s string) {
	before, _, _ := strings.Cut(s, "{")
	u, err := url.Parse(before)
	switch {
	case err == nil && u.User != nil:
		v.Failf("an address must not hold a password; put it into the environment, and send it as a header: {env: NAME}")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		v.Failf("must be an address like https://shop.example/orders/{id}")
	case strings.Contains(s, "#"):
		v.Failf("must be an address without #")
	}
})

// Environment is the kind of a list of variables.
func Environment() yamlwalk.Kind[[]tool.Setting] {
	return yamlwalk.List(yamlwalk.Map(
		yamlwalk.Pattern("NAME or NAME=value", variableForm),
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
	return Run{Server: r.server.V, Tool: r.tool.V, HTTP: r.http, Command: r.command}
}

// add adds a tool, with where it runs.
func (b *builder) add(d tool.Decl, r Run, at yamlwalk.Pos) {
	if r.Server != "" {
		b.useServer(text{V: r.Server, At: at})
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

// useServer keeps the description of a server that a tool runs on.
func (b *builder) useServer(name text) {
	if named(b.used, name.V) >= 0 || name.V == "" {
		return
	}
	i := named(b.servers, name.V)
	if i < 0 {
		known := make([]string, len(b.servers))
		for i := range b.servers {
			known[i] = b.servers[i].Name
		}
		b.f.Failf(name.At, "unknown MCP server %q%s; declare it under servers, here or in %s", name.V, suggest.Hint(name.V, known), Config)
		return
	}
	b.used = append(b.used, b.servers[i])
}

// declareServers are the servers that tools may run on; the scenario's own go before
// the configuration's.
func (b *builder) declareServers(w *written, o Options) {
	for _, e := range w.servers {
		s := e.Value
		s.Name = e.Key
		b.servers = append(b.servers, s)
	}
	for _, s := range o.Servers {
		if named(b.servers, s.Name) < 0 {
			b.servers = append(b.servers, s)
		}
	}
}

func named(servers []Server, name string) int {
	return slices.IndexFunc(servers, func(s Server) bool { return s.Name == name })
}

// takeFrom adds the tools of a server, as far as they are known, and those that
// are declared beside them.
func (b *builder) takeFrom(t *takeFrom) {
	b.useServer(t.server)
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
