package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/config"
	"github.com/retake-harness/retake/harness/internal/mcpproxy"
	"github.com/retake-harness/retake/harness/internal/process"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/transcript"
)

// mcpURL is the variable that names a session's own endpoint for tools.
const mcpURL = "RETAKE_MCP_URL"

type mcpProxyFlags struct {
	record, replay, url, listen, token string
	faults, env, headers               []string
	seed                               seed
	command                            []string // behind --
}

func mcpProxyCommand(sys IO, p *project) *cobra.Command {
	f := &mcpProxyFlags{}
	cmd := &cobra.Command{
		Use:   "mcp-proxy [flags] -- SERVER [ARG…]",
		Short: "Record, replay and break the MCP tools of an agent in any language",
		Long: `mcp-proxy speaks MCP over its standard input and output to an agent, and stands in
front of the server that the agent would start: put it before the server's command
in the agent's configuration. All that the two say to each other goes through.

  --record FILE   the calls of tools are written to FILE, with the list of tools,
                  when the agent has gone
  --replay FILE   the server is not started; the list and the calls are answered
                  from FILE. A call without a recording is an error result that
                  names the nearest
  --fault SPEC    strikes calls of tools, in replay too; see: retake faults

Inside of retake exec and retake run (` + mcpURL + ` is set) and without these flags
it is a bridge to the run's own tools, whose faults, ledger and recordings count;
the server is not started.

The server sees PATH and HOME of the environment, and what --env gives it. Standard
output is the protocol's alone; what is to be told is told on standard error when
the agent has gone.

exit codes: 0 served; 1 a call without a recording, a recording that nobody asked
for, a fault that never struck; 2 bad usage or recording; 3 no server, or a
recording that cannot be written`,
		Example: `  retake mcp-proxy --record cassettes/orders/tools.yaml -- npx -y @modelcontextprotocol/server-memory
  retake mcp-proxy --replay cassettes/orders/tools.yaml
  retake mcp-proxy --replay tools.yaml --fault tool.lost_ack@tool=create_order
  retake mcp-proxy --url https://shop.example/mcp --header Authorization=SHOP_TOKEN
  retake mcp-proxy --listen 127.0.0.1:0 --replay tools.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if i := cmd.ArgsLenAtDash(); i >= 0 {
				args, f.command = args[:i], args[i:]
			}
			if len(args) > 0 {
				return fmt.Errorf("%q stands before --; the server's command stands behind it: retake mcp-proxy -- %s", args[0], strings.Join(args, " "))
			}
			return runMCPProxy(sys, p, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.record, "record", "", "write the calls of tools to this file")
	flags.StringVar(&f.replay, "replay", "", "answer from this file, without a server")
	flags.StringArrayVarP(&f.faults, "fault", "f", nil, "strike calls of tools: NAME or NAME@tool=…,call=…")
	flags.Var(&f.seed, "seed", "what the chance of faults is drawn from")
	flags.StringVar(&f.url, "url", "", "the server is at this address, and speaks streamable HTTP")
	flags.StringArrayVar(&f.headers, "header", nil, "with --url: send this header; its value is a variable's, NAME=VARIABLE")
	flags.StringArrayVar(&f.env, "env", nil, "give the server this variable (NAME, or NAME=value)")
	flags.StringVar(&f.listen, "listen", "", "serve streamable HTTP at this address instead of standard input and output (port 0: a free one)")
	flags.StringVar(&f.token, "token", "", "with --listen: ask for this bearer token; needed where the address is not loopback")
	cmd.MarkFlagsMutuallyExclusive("record", "replay")
	cmd.MarkFlagsMutuallyExclusive("replay", "url")
	return cmd
}

// mcpProxy is a proxy that is set up, with what it told meanwhile.
type mcpProxy struct {
	sys   IO
	flags *mcpProxyFlags
	proxy *mcpproxy.Proxy
	// Nothing that is told or recorded holds what is secret.
	secrets []redact.Secret
	hidden  *redact.Values

	mu sync.Mutex
}

func runMCPProxy(sys IO, p *project, f *mcpProxyFlags) error {
	m := &mcpProxy{sys: sys, flags: f}
	c, err := suite.OpenConfig(p.dirs, sys.Getenv)
	if err != nil {
		return err
	}
	o, err := m.options(c)
	if err != nil {
		return err
	}
	if m.proxy, err = mcpproxy.New(o); err != nil {
		return err
	}
	ctx := sys.Context
	if f.listen != "" {
		err = m.overHTTP(ctx)
	} else {
		err = m.proxy.Serve(ctx, mcpproxy.Stdio(sys.Stdin, sys.Stdout))
	}
	if err := errors.Join(err, m.proxy.Finish()); err != nil {
		return err
	}
	return m.report()
}

func (m *mcpProxy) options(c *config.Config) (o mcpproxy.Options, err error) {
	f := m.flags
	o = mcpproxy.Options{Seed: uint64(f.seed), Warn: func(text string) { m.tell("warning", text) }}
	for _, text := range f.faults {
		s, err := fault.ParseSpec(text)
		if err != nil {
			return o, err
		}
		o.Faults = append(o.Faults, s)
	}
	bridge := m.sys.Getenv(mcpURL)
	if f.record != "" || f.replay != "" || f.url != "" || f.listen != "" || len(f.faults) > 0 {
		bridge = ""
	}
	switch {
	case f.replay != "":
		if o.Replay, err = cassette.Open(f.replay); errors.Is(err, fs.ErrNotExist) {
			err = failure.Errorf(failure.World, "%s: there is no such file; record it with: retake mcp-proxy --record %s -- SERVER", f.replay, f.replay)
		}
		return o, err
	case bridge != "":
		o.Connect = func(ctx context.Context) (mcp.Connection, error) { return mcpproxy.HTTP(ctx, bridge, nil) }
		return o, nil
	}
	if o.Connect, err = m.server(); err != nil {
		return o, err
	}
	m.hide(c)
	if f.record != "" {
		o.Record = &mcpproxy.Recording{Path: f.record, Redact: cassette.Redaction{JSON: c.Redact.JSON}, Secrets: m.hidden}
	}
	return o, nil
}

// hide keeps the project's secrets, and those of the server, out of what is told and
// recorded. What the agent is told is the server's affair.
func (m *mcpProxy) hide(c *config.Config) {
	for _, s := range c.Secrets {
		m.secrets = append(m.secrets, redact.Secret{Name: s.Name, Value: m.sys.Getenv(s.Name)})
	}
	m.hidden = redact.New(m.secrets...)
}

// given are settings with their values; those of the environment are secret.
func (m *mcpProxy) given(settings []tool.Setting) ([]tool.Setting, error) {
	values, _, err := tool.Resolve(settings, m.sys.Getenv)
	for i := range values {
		if settings[i].Env != "" {
			m.secrets = append(m.secrets, redact.Secret{Name: settings[i].Env, Value: values[i].Value})
		}
	}
	return values, err
}

// server is the way to the server that the flags name.
func (m *mcpProxy) server() (func(context.Context) (mcp.Connection, error), error) {
	f := m.flags
	if f.url == "" && len(f.command) == 0 {
		return nil, failure.Errorf(failure.ScenarioInvalid, "say which server: its command behind --, or --url; or --replay FILE, which needs none")
	}
	s, err := adHoc(f.url, f.command, f.env)
	if err != nil {
		return nil, err
	}
	if f.url == "" {
		values, err := m.given(s.Env)
		if err != nil {
			return nil, failure.Errorf(failure.Of(err), "--env: %w", err)
		}
		env, _, err := process.Environment(values, m.sys.Getenv)
		c := process.Command{Args: f.command, Env: env, Listen: func(line string) { m.tell("server", line) }}
		return func(ctx context.Context) (mcp.Connection, error) {
			return mcpproxy.Program(ctx, c, func(text string) { m.tell("warning", text) })
		}, err
	}
	header, err := m.header()
	return func(ctx context.Context) (mcp.Connection, error) { return mcpproxy.HTTP(ctx, f.url, header) }, err
}

// header reads --header NAME=VARIABLE.
func (m *mcpProxy) header() (http.Header, error) {
	var settings []tool.Setting
	for _, h := range m.flags.headers {
		name, variable, ok := strings.Cut(h, "=")
		if !ok || name == "" || variable == "" {
			return nil, failure.Errorf(failure.ScenarioInvalid, "--header %q is not NAME=VARIABLE; the value is taken from that variable of the environment", h)
		}
		settings = append(settings, tool.Setting{Name: name, Env: variable})
	}
	values, err := m.given(settings)
	if err != nil {
		return nil, failure.Errorf(failure.Of(err), "--header: %w", err)
	}
	out := http.Header{}
	for _, v := range values {
		out.Set(v.Name, v.Value)
	}
	return out, nil
}

// overHTTP serves until the command is interrupted.
func (m *mcpProxy) overHTTP(ctx context.Context) error {
	host, _, err := net.SplitHostPort(m.flags.listen)
	if err != nil {
		return failure.Errorf(failure.ScenarioInvalid, "--listen %q is no address; write 127.0.0.1:0", m.flags.listen)
	}
	if !mcpproxy.IsLoopback(host) && m.flags.token == "" {
		return failure.Errorf(failure.ScenarioInvalid, "--listen %s can be reached from elsewhere; give --token, too, or listen on 127.0.0.1", m.flags.listen)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", m.flags.listen)
	if err != nil {
		return failure.Errorf(failure.World, "--listen %s: %w", m.flags.listen, err)
	}
	h := m.proxy.Handler(ctx, m.flags.token)
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if _, err := fmt.Fprintf(m.sys.Stdout, "http://%s/mcp\n", l.Addr()); err != nil {
		_ = server.Close()
	}
	err = server.Serve(l)
	h.Wait()
	if !errors.Is(err, http.ErrServerClosed) {
		return failure.Errorf(failure.World, "--listen %s: %w", m.flags.listen, err)
	}
	return nil
}

// report tells what came of it, and gives the exit code.
func (m *mcpProxy) report() error {
	r := m.proxy.Report()
	for _, text := range r.Misses {
		m.tell("error", text)
	}
	kind := "error"
	if len(m.flags.faults) > 0 {
		kind = "warning" // a fault may have kept the agent from asking
	}
	for _, text := range r.Unplayed {
		m.tell(kind, text)
	}
	for _, f := range r.Idle {
		text := "the fault " + f.Spec.String() + " never struck"
		if f.Why != "" {
			text += ": " + f.Why
		}
		m.tell("error", text)
	}
	if len(r.Misses) > 0 || len(r.Idle) > 0 || len(r.Unplayed) > 0 && kind == "error" {
		return exitError(exitFail)
	}
	return nil
}

// tell says a sentence on standard error, a line of its own.
func (m *mcpProxy) tell(kind, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _ = io.WriteString(m.sys.Stderr, kind+": "+string(transcript.AppendSafe(nil, m.hidden.Text(text), len(kind)+2))+"\n")
}
