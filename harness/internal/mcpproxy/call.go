package mcpproxy

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// exchange is one call of a tool, as the client made it.
type exchange struct {
	session *session
	req     *jsonrpc.Request

	mu     sync.Mutex
	times  int
	answer *jsonrpc.Response // the last that the server or the recording gave
	result tool.Result       // what it means
}

type exchangeKey struct{}

// call lets a call of a tool go through the seam, beside all else.
func (s *session) call(ctx context.Context, req *jsonrpc.Request) {
	var asked struct {
		Name string         `json:"name"`
		Args jsontext.Value `json:"arguments"`
	}
	err := json.Unmarshal(req.Params, &asked, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if asked.Args == nil {
		asked.Args = jsontext.Value("{}")
	}
	if err != nil || asked.Name == "" || asked.Args.Kind() != '{' || !asked.Args.IsValid() {
		s.broken(ctx, req)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.cancel[req.ID] = cancel
	s.mu.Unlock()
	c := tool.Call{Tool: asked.Name, ID: fmt.Sprint(req.ID.Raw()), Args: asked.Args, Attempt: 1, Ordinal: s.proxy.next()}
	s.running.Go(func() {
		defer func() {
			cancel()
			s.mu.Lock()
			delete(s.cancel, req.ID)
			s.mu.Unlock()
		}()
		x := &exchange{session: s, req: req}
		r := x.run(context.WithValue(ctx, exchangeKey{}, x), c)
		if ctx.Err() != nil {
			return // cancelled: the client does not want it any more
		}
		r.ID = req.ID
		s.toClient(ctx, r)
	})
}

// broken passes a call on that says no tool or no arguments: the server knows what
// to say to it.
func (s *session) broken(ctx context.Context, req *jsonrpc.Request) {
	if s.server != nil {
		s.note(req)
		s.toServer(ctx, req)
		return
	}
	s.toClient(ctx, &jsonrpc.Response{ID: req.ID, Error: &jsonrpc.Error{
		Code: jsonrpc.CodeInvalidParams, Message: "a call needs the name of a tool, and an object of arguments",
	}})
}

// cancelled ends the call that the client gives up.
func (s *session) cancelled(params []byte) {
	var p struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.ID)
	if err != nil {
		return
	}
	s.mu.Lock()
	cancel := s.cancel[id]
	delete(s.asked, id) // a server that hears of it does not answer
	s.settle()
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// run is the answer to the call.
func (x *exchange) run(ctx context.Context, c tool.Call) *jsonrpc.Response {
	p := x.session.proxy
	res, err := x.guarded(ctx, p.seam(c.Tool), c)
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case err != nil && failure.Of(err) == failure.CassetteMiss:
		return answerOf(tool.Result{Err: &tool.Error{Code: "NO_RECORDING", Message: err.Error()}}, &tool.Decl{})
	case err != nil:
		return &jsonrpc.Response{Error: internal(err)}
	case x.answer != nil && res == x.result:
		return &jsonrpc.Response{Result: x.answer.Result, Error: x.answer.Error}
	}
	p.mu.Lock()
	d := p.tools.decl(c.Tool)
	p.mu.Unlock()
	return answerOf(res, &d)
}

// guarded makes a panic, which one of the faults is, the tool's failure.
func (x *exchange) guarded(ctx context.Context, e tool.Executor, c tool.Call) (res tool.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			res, err = tool.Result{Err: &tool.Error{
				Code: tool.CodeUpstream, Message: "the tool broke down", Class: failure.ToolUnavailable, Detail: fmt.Sprint("panic: ", v),
			}}, nil
		}
	}()
	return e.Execute(ctx, c)
}

// work is what lies behind the faults and the recorder of every tool: the server, or
// the recording.
func work(ctx context.Context, c tool.Call) (tool.Result, error) {
	x := ctx.Value(exchangeKey{}).(*exchange)
	answer, result, err := x.deliver(ctx, c)
	if err != nil {
		return tool.Result{}, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.answer, x.result = answer, result
	return result, nil
}

// words are the server's own, for the recording.
func words(ctx context.Context) jsontext.Value {
	x := ctx.Value(exchangeKey{}).(*exchange)
	x.mu.Lock()
	defer x.mu.Unlock()
	return wordsOf(x.answer)
}

// deliver brings the call to the server, the first time under the client's own id,
// or to the recording.
func (x *exchange) deliver(ctx context.Context, c tool.Call) (*jsonrpc.Response, tool.Result, error) {
	s := x.session
	if s.server == nil {
		return s.proxy.replay.play(ctx, c)
	}
	x.mu.Lock()
	x.times++
	req := &jsonrpc.Request{Method: x.req.Method, Params: x.req.Params}
	if x.times == 1 {
		req.ID = x.req.ID
	}
	x.mu.Unlock()
	r, err := s.ask(ctx, req)
	if err != nil {
		return nil, tool.Result{}, err
	}
	return r, resultOf(r), nil
}
