package mcptool

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// What a call carries in its _meta.
const (
	MetaTask    = "io.github.retake-harness/task_id"
	MetaAttempt = "io.github.retake-harness/attempt_id"
)

// Execute calls the server's tool of the call's name.
func (s *Session) Execute(ctx context.Context, c tool.Call) (tool.Result, error) {
	return s.call(ctx, c.Tool, &c), nil
}

// As runs calls by the server's tool of another name.
func (s *Session) As(name string) tool.Executor {
	return tool.ExecutorFunc(func(ctx context.Context, c tool.Call) (tool.Result, error) {
		return s.call(ctx, name, &c), nil
	})
}

func (s *Session) call(ctx context.Context, name string, c *tool.Call) tool.Result {
	if err := s.lost(); err != nil {
		return s.failed(unavailable(false, err))
	}
	limited, cancel := clock.WithTimeout(ctx, s.server.Timeout)
	defer cancel()
	s.meet(limited)
	n := &note{}
	res, err := s.session.CallTool(context.WithValue(limited, noteKey{}, n), &mcp.CallToolParams{
		Meta: mcp.Meta{MetaTask: c.TaskID, MetaAttempt: c.AttemptID},
		Name: name, Arguments: c.Args,
	})
	if err != nil {
		return s.failed(s.why(limited, n, err))
	}
	r := ResultOf(res)
	if r.Err != nil {
		return s.failed(r.Err)
	}
	return r
}

func (s *Session) failed(e *tool.Error) tool.Result {
	e.Detail = s.hidden.Text(e.Detail)
	return tool.Result{Err: e}
}

// why makes a tool's error of one that came instead of an answer.
func (s *Session) why(ctx context.Context, n *note, err error) *tool.Error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &tool.Error{
			Code: tool.CodeTimeout, Message: "the tool did not answer in time", Retryable: true,
			Class: failure.ToolTimeout, Detail: s.silent(),
		}
	case ctx.Err() != nil:
		return &tool.Error{Code: tool.CodeCancelled, Message: "the call was cancelled", Class: failure.ToolUnavailable, Detail: err.Error()}
	case n.unsent:
		return unavailable(true, err)
	case n.status == http.StatusUnauthorized || n.status == http.StatusForbidden:
		return Unauthorized(err)
	case n.status == http.StatusTooManyRequests || n.status == http.StatusServiceUnavailable:
		return unavailable(true, err)
	}
	if rpc := new(jsonrpc.Error); errors.As(err, &rpc) && !errors.Is(err, mcp.ErrConnectionClosed) {
		return ofRPC(rpc)
	}
	s.settle()
	if lost := s.lost(); lost != nil {
		err = lost
	}
	return &tool.Error{Code: tool.CodeUpstream, Message: "the tool broke off", Retryable: true, Class: failure.ToolUnavailable, Detail: err.Error()}
}

// settle gives a program whose pipe has closed the moment that it needs to be
// known to have ended.
func (s *Session) settle() {
	if s.proc == nil || s.lost() != nil {
		return
	}
	limited, cancel := clock.WithTimeout(context.Background(), grace)
	defer cancel()
	select {
	case <-s.proc.Done():
	case <-limited.Done():
	}
}

func (s *Session) silent() string {
	const what = "the server did not answer before the deadline"
	if err := s.lost(); err != nil {
		return what + "; " + err.Error()
	}
	if s.proc != nil && s.proc.Stderr() != "" {
		return what + "; standard error: " + s.proc.Stderr()
	}
	return what
}

// Unauthorized is the error of a call whose credentials were not accepted.
func Unauthorized(err error) *tool.Error {
	return &tool.Error{Code: codeUnauthorized, Message: "the tool does not accept the host's credentials", Class: failure.ToolFailed, Detail: err.Error()}
}

// unavailable is the error of a call that has not reached the server.
func unavailable(retryable bool, err error) *tool.Error {
	return &tool.Error{Code: tool.CodeUnavailable, Message: "the tool is not available", Retryable: retryable, Class: failure.ToolUnavailable, Detail: err.Error()}
}

// ofRPC files an error of the protocol. Its text is the server's, for the log.
func ofRPC(rpc *jsonrpc.Error) *tool.Error {
	e := &tool.Error{Code: tool.CodeUpstream, Message: "the tool failed", Class: failure.ToolUnavailable, Detail: "JSON-RPC error: " + rpc.Error()}
	switch rpc.Code {
	case jsonrpc.CodeInvalidParams:
		e.Code, e.Message, e.Class = tool.CodeValidation, "the tool does not accept this call", failure.ToolInvalidArguments
	case jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidRequest, jsonrpc.CodeParseError:
		e.Code, e.Message = tool.CodeUnavailable, "the tool is not available"
	case jsonrpc.CodeInternalError:
		e.Retryable = true
	}
	return e
}

func isDial(err error) bool {
	op := new(net.OpError)
	return errors.As(err, &op) && op.Op == "dial" || errors.Is(err, syscall.ECONNREFUSED)
}
