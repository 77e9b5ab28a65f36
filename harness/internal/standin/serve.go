package standin

import (
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// clientPath is what stands before the API's path where a client has an address of
// its own.
const clientPath = "/client/"

// mostBody is the largest request that is read.
const mostBody = 64 << 20

// exchange is one request with its answer.
type exchange struct {
	server *Server
	w      http.ResponseWriter
	req    *http.Request
	codec  wire.Codec
	asked  Asked
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	x := &exchange{server: s, w: w, req: req, asked: Asked{Header: req.Header.Clone(), URL: req.URL.RequestURI()}}
	if rest, ok := strings.CutPrefix(req.URL.Path, clientPath); ok {
		x.asked.Client, _, _ = strings.Cut(rest, "/")
		x.asked.URL = strings.TrimPrefix(x.asked.URL, clientPath+x.asked.Client)
	}
	maps.Copy(w.Header(), s.script.Header)
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, mostBody))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	x.asked.Body = body
	x.answer()
}

// note writes down the request with what came of it.
func (x *exchange) note(status int) {
	x.asked.Status = status
	x.server.mu.Lock()
	defer x.server.mu.Unlock()
	x.server.asked = append(x.server.asked, x.asked)
}

func (x *exchange) answer() {
	api, ok := codec.Detect(x.req.Method, x.asked.URL, x.asked.Body)
	if !ok {
		x.note(http.StatusNotFound)
		http.NotFound(x.w, x.req)
		return
	}
	x.asked.API = api
	x.codec, _ = codec.For(api)
	if !x.letIn() {
		x.refuse(Failure{Status: http.StatusUnauthorized})
		return
	}
	asked, err := x.codec.DecodeRequest(x.asked.URL, x.asked.Body)
	if err != nil {
		x.refuse(Failure{Status: http.StatusBadRequest, Error: &wire.APIError{Message: err.Error()}})
		return
	}
	x.asked.Model, x.asked.Stream = asked.Model, asked.Stream
	conversation, turn, why := x.server.script.choose(asked)
	if why != "" {
		x.refuse(Failure{Status: http.StatusBadRequest, Error: &wire.APIError{Message: why}})
		return
	}
	x.asked.Conversation, x.asked.Turn = conversation, turn
	x.turn(&x.server.script.Conversations[conversation-1].Turns[turn-1])
}

// letIn tells whether the request brings the key.
func (x *exchange) letIn() bool {
	key := x.server.script.Key
	h := x.req.Header
	switch x.asked.API {
	case wire.AnthropicMessages:
		return h.Get("X-Api-Key") == key || h.Get("Authorization") == "Bearer "+key
	case wire.GeminiGenerate:
		return h.Get("X-Goog-Api-Key") == key || x.req.URL.Query().Get("key") == key
	default:
		return h.Get("Authorization") == "Bearer "+key
	}
}

func (x *exchange) turn(t *Turn) {
	end := t.Break
	if f, ok := x.server.fails(x.place(), t.Failures); ok {
		if f.Status != 0 {
			x.refuse(f)
			return
		}
		end = f.Break
	}
	said := t.said(x.asked.Model)
	if said.Status >= http.StatusBadRequest {
		x.refuse(Failure{Status: said.Status, Error: said.Error, RetryAfter: said.RetryAfter})
		return
	}
	x.say(said, end)
}

func (x *exchange) place() place {
	return place{x.asked.Client, x.asked.Conversation, x.asked.Turn}
}

// fails takes the next failure of a place; ok is false when all have come.
func (s *Server) fails(at place, all []Failure) (f Failure, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.failed[at]
	if n == len(all) {
		return Failure{}, false
	}
	s.failed[at]++
	return all[n], true
}

// refuse answers with an error in the provider's form.
func (x *exchange) refuse(f Failure) {
	x.note(f.Status)
	if f.RetryAfter > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	}
	if f.Body != "" {
		x.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		x.w.WriteHeader(f.Status)
		_, _ = io.WriteString(x.w, f.Body) // who does not listen is not told
		return
	}
	e := usual(x.asked.API, f.Status)
	if f.Error != nil && f.Error.Type != "" {
		e.Type = f.Error.Type
	}
	if f.Error != nil && f.Error.Code != "" {
		e.Code = f.Error.Code
	}
	if f.Error != nil && f.Error.Message != "" {
		e.Message = f.Error.Message
	}
	text, err := x.codec.EncodeResponse(nil, &wire.Response{Err: &e}, false)
	if err != nil {
		text = []byte(err.Error())
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(f.Status)
	_, _ = x.w.Write(text)
}
