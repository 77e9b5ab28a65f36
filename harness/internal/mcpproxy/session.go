package mcpproxy

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/clock"
)

// The methods that are looked at.
const (
	methodInitialize = "initialize"
	methodDiscover   = "server/discover" // instead, from 2026-07-28 on
	methodList       = "tools/list"
	methodCall       = "tools/call"
	methodCancelled  = "notifications/cancelled"
)

// patience is how long the answers to what was asked are waited for when the client
// has closed its side.
const patience = 30 * time.Second

// session is one client with its connection to the server.
type session struct {
	proxy  *Proxy
	client mcp.Connection
	server mcp.Connection // nil in replay

	running sync.WaitGroup // calls of tools that are under way

	mu      sync.Mutex
	own     int                                     // ids that were given out here
	asked   map[jsonrpc.ID]string                   // requests of the client that the server has not answered, with their methods
	first   map[jsonrpc.ID]bool                     // of these, those that ask for the first page of tools
	waiting map[jsonrpc.ID]chan<- *jsonrpc.Response // answers that are waited for here
	cancel  map[jsonrpc.ID]context.CancelFunc       // of calls that are under way
	meta    jsontext.Value                          // what the client says of itself with each request; nil: nothing
	dead    error                                   // why the server answers no more
	quiet   chan struct{}                           // closed when the client is gone and nothing is asked any more
	gone    bool
}

// Serve serves one client until it closes its side and has its answers, or until
// ctx ends. An error says that there was no server; the client's leaving is none.
func (p *Proxy) Serve(ctx context.Context, client mcp.Connection) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	s := &session{
		proxy: p, client: client, asked: map[jsonrpc.ID]string{}, first: map[jsonrpc.ID]bool{},
		waiting: map[jsonrpc.ID]chan<- *jsonrpc.Response{}, cancel: map[jsonrpc.ID]context.CancelFunc{}, quiet: make(chan struct{}),
	}
	defer client.Close() //nolint:errcheck // nobody is left to be told
	if p.replay == nil {
		server, err := p.opts.Connect(ctx)
		if err != nil {
			return err
		}
		s.server = server
		defer server.Close() //nolint:errcheck // the same
		go s.fromServer(ctx)
	}
	for {
		m, err := client.Read(ctx)
		if err != nil {
			s.leave(ctx)
			return nil // the client is gone
		}
		s.fromClient(ctx, m)
	}
}

// leave waits for what the client asked before it closed its side.
func (s *session) leave(ctx context.Context) {
	ctx, cancel := clock.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.running.Wait()
		s.mu.Lock()
		s.gone = true
		s.settle()
		s.mu.Unlock()
		select {
		case <-s.quiet:
			s.askForTools(ctx)
		case <-ctx.Done():
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// settle tells that nothing is asked any more. The lock is held.
func (s *session) settle() {
	if s.gone && len(s.asked) == 0 {
		select {
		case <-s.quiet:
		default:
			close(s.quiet)
		}
	}
}

func (s *session) fromClient(ctx context.Context, m jsonrpc.Message) {
	req, ok := m.(*jsonrpc.Request)
	if ok && req.IsCall() {
		s.introduced(req.Params)
	}
	switch {
	case !ok: // an answer to what the server asked
		s.toServer(ctx, m)
	case s.underWay(req.ID):
		s.toClient(ctx, &jsonrpc.Response{ID: req.ID, Error: &jsonrpc.Error{
			Code: jsonrpc.CodeInvalidRequest, Message: "a request of this id is under way",
		}})
	case req.Method == methodCall && req.IsCall():
		s.call(ctx, req)
	case req.Method == methodCancelled:
		s.cancelled(req.Params)
		s.toServer(ctx, req)
	case s.server == nil:
		if r := s.proxy.replay.answer(req); r != nil {
			s.toClient(ctx, r)
		}
	default:
		s.note(req)
		s.toServer(ctx, req)
	}
}

// note remembers what the client asks for.
func (s *session) note(req *jsonrpc.Request) {
	if !req.IsCall() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[req.ID] = req.Method
	if req.Method == methodList {
		s.first[req.ID] = cursorOf(req.Params) == ""
	}
}

func (s *session) underWay(id jsonrpc.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, asked := s.asked[id]
	return id.IsValid() && (asked || s.cancel[id] != nil)
}

// introduced remembers what the client says of itself with a request, which from
// 2026-07-28 on no request goes without.
func (s *session) introduced(params []byte) {
	var p struct {
		Meta map[string]jsontext.Value `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.Meta) == 0 {
		return
	}
	delete(p.Meta, "progressToken")
	meta, err := json.Marshal(p.Meta, json.Deterministic(true))
	if err == nil {
		s.mu.Lock()
		s.meta = meta
		s.mu.Unlock()
	}
}

func cursorOf(params []byte) string {
	var p struct {
		Cursor string `json:"cursor"`
	}
	_ = json.Unmarshal(params, &p) // params of another form have none
	return p.Cursor
}

// toServer sends a message on. A request that cannot be sent is answered.
func (s *session) toServer(ctx context.Context, m jsonrpc.Message) {
	if s.server == nil {
		return
	}
	s.mu.Lock()
	err := s.dead
	s.mu.Unlock()
	if err == nil {
		err = s.server.Write(ctx, m)
	}
	if req, ok := m.(*jsonrpc.Request); ok && err != nil && req.IsCall() {
		s.answered(req.ID)
		s.toClient(ctx, &jsonrpc.Response{ID: req.ID, Error: internal(err)})
	}
}

// internal is the error of a request that the server has not answered.
func internal(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

func (s *session) toClient(ctx context.Context, m jsonrpc.Message) {
	if err := s.client.Write(ctx, m); err != nil && ctx.Err() == nil {
		s.proxy.opts.Warn("a message could not be given to the client: " + err.Error())
	}
}

// answered forgets a request.
func (s *session) answered(id jsonrpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asked, id)
	delete(s.first, id)
	s.settle()
}

// fromServer hands on what the server says until it ends.
func (s *session) fromServer(ctx context.Context) {
	for {
		m, err := s.server.Read(ctx)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the MCP server has closed the connection")
			}
			s.lost(ctx, err)
			return
		}
		r, ok := m.(*jsonrpc.Response)
		if ok && s.wanted(r) {
			continue
		}
		if ok {
			s.look(r)
		}
		s.toClient(ctx, m)
		if ok {
			s.answered(r.ID)
		}
	}
}

// wanted gives an answer to whoever waits for it here.
func (s *session) wanted(r *jsonrpc.Response) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.waiting[r.ID]
	if ok {
		delete(s.waiting, r.ID)
		c <- r
	}
	return ok
}

// look keeps what a recording needs to know of the server.
func (s *session) look(r *jsonrpc.Response) {
	if r.Error != nil {
		return
	}
	s.mu.Lock()
	method, first := s.asked[r.ID], s.first[r.ID]
	s.mu.Unlock()
	switch method {
	case methodInitialize, methodDiscover:
		s.proxy.hello(jsontext.Value(r.Result))
	case methodList:
		s.proxy.listed(jsontext.Value(r.Result), first)
	}
}

// lost answers all that the server will not.
func (s *session) lost(ctx context.Context, why error) {
	s.mu.Lock()
	s.dead = why
	var open []jsonrpc.ID
	for id := range s.asked {
		open = append(open, id)
	}
	waiting := s.waiting
	s.waiting = map[jsonrpc.ID]chan<- *jsonrpc.Response{}
	s.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	s.proxy.opts.Warn(why.Error())
	for id, c := range waiting {
		c <- &jsonrpc.Response{ID: id, Error: lostError{why}}
	}
	for _, id := range open {
		s.toClient(ctx, &jsonrpc.Response{ID: id, Error: internal(why)})
		s.answered(id)
	}
}

// lostError is the answer of a server that gave none.
type lostError struct{ error }

// ask sends a request to the server and waits for the answer. An id of "" is made
// here.
func (s *session) ask(ctx context.Context, req *jsonrpc.Request) (*jsonrpc.Response, error) {
	answer := make(chan *jsonrpc.Response, 1)
	s.mu.Lock()
	if err := s.dead; err != nil {
		s.mu.Unlock()
		return nil, err
	}
	if !req.ID.IsValid() || s.waiting[req.ID] != nil {
		s.own++
		req.ID, _ = jsonrpc.MakeID("retake-" + strconv.Itoa(s.own)) // a text always is one
	}
	s.waiting[req.ID] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, req.ID)
		s.mu.Unlock()
	}()
	if err := s.server.Write(ctx, req); err != nil {
		return nil, err
	}
	select {
	case r := <-answer:
		if lost, ok := errors.AsType[lostError](r.Error); ok {
			return nil, lost.error
		}
		return r, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// askForTools completes a recording whose client has not asked for the tools.
func (s *session) askForTools(ctx context.Context) {
	p := s.proxy
	p.mu.Lock()
	needless := p.record == nil || p.tools.known || p.tools.hello == nil
	p.mu.Unlock()
	if needless {
		return
	}
	var asked struct {
		Meta   jsontext.Value `json:"_meta,omitzero"`
		Cursor string         `json:"cursor,omitzero"`
	}
	s.mu.Lock()
	asked.Meta = s.meta
	s.mu.Unlock()
	for first := true; first || asked.Cursor != ""; first = false {
		r, err := s.ask(ctx, &jsonrpc.Request{Method: methodList, Params: must(json.Marshal(asked))})
		if err != nil || r.Error != nil {
			p.opts.Warn("the server's tools could not be listed; the recording is without their schemas")
			return
		}
		p.listed(jsontext.Value(r.Result), first)
		var next page
		_ = json.Unmarshal(r.Result, &next) // what cannot be read has no further page
		asked.Cursor = next.Next
	}
}
