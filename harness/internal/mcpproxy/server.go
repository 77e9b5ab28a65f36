package mcpproxy

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process"
)

// grace is how long a program has to end by itself, and then to end when asked.
const grace = 2 * time.Second

const shown = 200 // bytes of a line that is no message

// Program starts an MCP server that is a program, and gives the connection to it.
// What it writes to its standard error goes to c.Listen; a line of its standard
// output that is no message to warn.
func Program(ctx context.Context, c process.Command, warn func(text string)) (mcp.Connection, error) {
	p, err := process.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	stray := func(_ *Lines, line []byte, why error) {
		warn(fmt.Sprintf("the server wrote what is no message to its standard output, which is left out: %s: %q; a log belongs on standard error", why, line[:min(len(line), shown)]))
	}
	return &program{newLines(p.Stdout, p.Stdin, stray, func() { p.Close(grace) }), p}, nil
}

// program says with its end how it came to it.
type program struct {
	*Lines
	proc *process.Process
}

func (c *program) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Lines.Read(ctx)
	if err == nil || ctx.Err() != nil {
		return m, err
	}
	_ = c.Close() // it is reaped by then
	how := "the MCP server has ended"
	if h := c.proc.How(); h != "" {
		how += ": " + h
	}
	if said := c.proc.Stderr(); said != "" {
		how += "; standard error: " + said
	}
	return nil, failure.Errorf(failure.World, "%s", how)
}

// HTTP connects to an MCP server that speaks streamable HTTP. No redirect leads to
// another host, and no message is sent twice.
func HTTP(ctx context.Context, address string, header http.Header) (mcp.Connection, error) {
	base := &http.Transport{}
	c := &httpConn{base: base}
	t := &mcp.StreamableClientTransport{
		Endpoint: address, MaxEventSize: mostMessage, MaxRetries: 1,
		HTTPClient: &http.Client{
			Transport:     &sender{conn: c, header: header},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	conn, err := t.Connect(ctx)
	if err != nil {
		return nil, failure.Errorf(failure.World, "%s: connecting: %w", address, err)
	}
	c.Connection = conn
	return c, nil
}

// httpConn remembers the version that client and server agree on, which all later
// requests have to name in a header.
type httpConn struct {
	mcp.Connection
	base *http.Transport

	mu      sync.Mutex
	version string
}

const versionHeader = "Mcp-Protocol-Version"

func (c *httpConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Response); ok && err == nil {
		var hello struct {
			Version string `json:"protocolVersion"`
		}
		if json.Unmarshal(r.Result, &hello) == nil && hello.Version != "" {
			c.mu.Lock()
			c.version = hello.Version
			c.mu.Unlock()
		}
	}
	if err != nil && ctx.Err() == nil && err != io.EOF { //nolint:errorlint // the SDK gives it bare
		err = failure.Errorf(failure.World, "the connection to the MCP server broke: %w", err)
	}
	return m, err
}

func (c *httpConn) Close() error {
	err := c.Connection.Close()
	c.base.CloseIdleConnections()
	return err
}

type sender struct {
	conn   *httpConn
	header http.Header
}

func (s *sender) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	maps.Copy(req.Header, s.header)
	s.conn.mu.Lock()
	version := s.conn.version
	s.conn.mu.Unlock()
	if req.Header.Get(versionHeader) == "" && version != "" {
		req.Header.Set(versionHeader, version)
	}
	return s.conn.base.RoundTrip(req)
}
