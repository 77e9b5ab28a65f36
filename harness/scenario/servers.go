package scenario

import (
	"slices"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/tool"
)

// Server says how an MCP server is reached: a program by its standard input and
// output (Command), an address (URL), or a program that is started and then
// reached by its address (both).
type Server struct {
	Name string
	// Build is a program that is run before the server is first started.
	Build   []string
	Command []string
	Env     []tool.Setting
	URL     string
	Headers []tool.Setting
	Timeout time.Duration // for connecting, and for each call; 0 is 30 s
	Hooks   Hooks
}

// Hooks are what a server's program can be made to do for a test, by variables of
// its environment. The zero value has none.
type Hooks struct {
	// Points are where it can be held: with RETAKE_HOLD_AT=point the first write
	// that gets there stands still, and the program writes the line
	// "retake: held at point" to its standard error.
	Points []string
	// Clock says that RETAKE_CLOCK_OFFSET=25h moves its clock.
	Clock bool
	// Fail names what it depends on and can be made to fail: RETAKE_FAIL=payment.
	Fail []string
}

// The variables of Hooks, and what a program writes when it is held.
const (
	HoldAtVariable = "RETAKE_HOLD_AT"
	ClockVariable  = "RETAKE_CLOCK_OFFSET"
	FailVariable   = "RETAKE_FAIL"
	HeldLine       = "retake: held at "
)

// Points are the points at which a server can be held, in their order.
func Points() []string {
	return []string{"before_reserve", "after_reserve", "after_effect", "after_record"}
}

// What stands for something that is only known when a program is started.
const (
	Build   = "build"   // a folder for what a server is built into
	Scratch = "scratch" // a folder of the run's own
	Port    = "port"    // a free port of the loopback address, the same for all of a server
)

// ServerFields is the kind of an MCP server's description; the configuration has
// it too.
func ServerFields() yamlwalk.Kind[Server] {
	return yamlwalk.Object[Server]{
		Is: "an MCP server",
		Fields: []yamlwalk.Field[Server]{
			yamlwalk.F("build", "A program and its arguments that is run once, before the server is first started, as in [go, build, -o, '${build}/shop', ./cmd/shop]; ${build} is a folder that command may name.", buildProgram, func(s *Server) *[]string { return &s.Build }),
			yamlwalk.F("command", "The program and its arguments. It speaks over its standard input and output, or, where there is a url too, it is reached there. ${scratch} is a folder of the run's own, ${port} a free port.", serverProgram, func(s *Server) *[]string { return &s.Command }),
			yamlwalk.F("env", "The program's environment besides PATH and HOME: NAME takes the variable over, as a secret; NAME=value sets it.", Environment(), func(s *Server) *[]tool.Setting { return &s.Env }),
			yamlwalk.F("url", "Its address, for streamable HTTP.", serverAddress, func(s *Server) *string { return &s.URL }),
			yamlwalk.F("headers", "Headers of each request, each a text or {env: NAME}.", Headers(), func(s *Server) *[]tool.Setting { return &s.Headers }),
			yamlwalk.F("timeout", "For connecting, and for each call; default 30s.", yamlwalk.Duration(), func(s *Server) *time.Duration { return &s.Timeout }),
			yamlwalk.F("hooks", "What the program can be made to do for a drill, see package drill.", hookFields.Kind(), func(s *Server) *Hooks { return &s.Hooks }),
		},
		AtLeastOne: [][]string{{"command", "url"}},
		Needs:      [][2]string{{"build", "command"}, {"env", "command"}, {"hooks", "command"}, {"headers", "url"}},
		Check: func(v yamlwalk.Value, s *Server) {
			if s.Command == nil && strings.Contains(s.URL, "${"+Port+"}") {
				v.Failf("nobody serves at ${port}; give the command of a program that is told the port")
			}
		},
	}.Kind()
}

var hookFields = yamlwalk.Object[Hooks]{
	Is: "hooks",
	Fields: []yamlwalk.Field[Hooks]{
		yamlwalk.F("points", "Where RETAKE_HOLD_AT makes the first write stand still, so that the program can be killed there.", yamlwalk.List(yamlwalk.Enum(Points()...)), func(h *Hooks) *[]string { return &h.Points }),
		yamlwalk.F("clock", "Whether RETAKE_CLOCK_OFFSET moves its clock.", yamlwalk.Bool(), func(h *Hooks) *bool { return &h.Clock }),
		yamlwalk.F("fail", "What it depends on that RETAKE_FAIL makes fail, by names of its own.", yamlwalk.List(yamlwalk.Pattern("a name", serverForm)), func(h *Hooks) *[]string { return &h.Fail }),
	},
}

// Servers is the kind of a set of MCP servers by their names.
func Servers() yamlwalk.Kind[[]yamlwalk.Entry[Server]] {
	return yamlwalk.Entries("MCP servers", serverForm, ServerFields())
}

// serverAddress is an address whose port may be filled in.
var serverAddress = yamlwalk.Then(started(yamlwalk.Text(), Port), func(v yamlwalk.Value, s string) {
	checkAddress(v, Fill(s, map[string]string{Port: "1"}))
})

// started is a text in which ${name} stands for something that is only known when
// a program is started.
func started(k yamlwalk.Kind[string], names ...string) yamlwalk.Kind[string] {
	return yamlwalk.Then(k, func(v yamlwalk.Value, s string) {
		for _, name := range placeholders(s) {
			if !slices.Contains(names, name) {
				v.Failf("unknown placeholder ${%s}%s; known here are ${%s}; write $${ for a literal ${", name, suggest.Hint(name, names), strings.Join(names, "}, ${"))
			}
		}
	})
}

// placeholders are the names of what a text leaves open.
func placeholders(s string) []string {
	var names []string
	replace(s, func(name string) string {
		names = append(names, name)
		return ""
	})
	return names
}

// Fill replaces each ${name} of a text by its value, and $${ by ${.
func Fill(s string, values map[string]string) string {
	return replace(s, func(name string) string { return values[name] })
}

func replace(s string, value func(name string) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		switch {
		case !found:
			b.WriteString(s)
			return b.String()
		case strings.HasSuffix(before, "$"):
			b.WriteString(before[:len(before)-1] + "${")
			s = rest
			continue
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			name, after = rest, ""
		}
		b.WriteString(before + value(name))
		s = after
	}
}

// useServer keeps the description of a server that a tool runs on.
func (b *builder) useServer(used *[]Server, name text) {
	if named(*used, name.V) >= 0 || name.V == "" {
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
	*used = append(*used, b.servers[i])
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
