// Package script is a model and tools that say what they were told to: turns
// written by hand, answered over the same HTTP seam and in the same bytes as the
// real API would. With it a scenario has a recording before anybody has paid
// for one, and a test has a model that needs no cassette.
//
// What was asked and answered is kept as interactions, ready for
// cassette.Save. A file made so says source: scripted.
package script

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// Turn is one answer of the model.
type Turn struct {
	Text  string
	Calls []Call
	// Stop is the provider's word; "" is the one that fits: tool use with calls,
	// else a finished turn.
	Stop string
	// NoStop leaves the stop reason out.
	NoStop bool
	// Cut ends a stream after what was said, without its terminal event.
	Cut     bool
	Usage   Usage
	Latency time.Duration
	// Status and Error, when set, are a failed answer instead.
	Status     int
	Error      *wire.APIError
	RetryAfter time.Duration // whole seconds
	// Body, when set, is the answer's body as it is: a gateway's page, what is
	// left of a stream.
	Body *string
	// Broken, when set, is how the connection ends instead of an answer. It is
	// not kept: there is no recording of what never came.
	Broken error
	// When says which request the turn answers; the zero value is any.
	When When
}

// Call is one tool call of a turn. ID "" is made up of the turn's number.
type Call struct {
	ID, Name, Args string // Args is JSON, or what is left of it in a turn that was cut
}

// Usage is what a turn is said to have cost, in tokens.
type Usage struct{ Input, Output, CacheRead int64 }

// Model answers each request with the first turn that was not said yet and whose
// condition fits: without conditions the n-th request with the n-th turn. It is
// an http.RoundTripper for one conversation.
type Model struct {
	API   wire.API
	Name  string // reported as the model
	Turns []Turn
	// Number is the number of the model call that is being answered, for a
	// conversation that another model began; nil counts the requests, one that is
	// sent again as the same.
	Number func() int

	mu    sync.Mutex
	n     int    // requests so far
	calls int    // of them different from the one before
	last  []byte // the last request's body
	said  []bool
	kept  []cassette.Interaction
}

// RoundTrip implements http.RoundTripper. A request that no turn answers is an
// error of class scenario_invalid.
func (m *Model) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_ = req.Body.Close()
	c, ok := codec.For(m.API)
	if !ok {
		return nil, failure.Errorf(failure.ScenarioInvalid, "script: no such API %q", m.API)
	}
	asked, err := c.DecodeRequest(req.URL.RequestURI(), body)
	if err != nil {
		return nil, err
	}
	n, turn, err := m.next(asked, body)
	if err != nil {
		return nil, err
	}
	if turn.Broken != nil {
		if err := clock.Pass(req.Context(), turn.Latency); err != nil {
			return nil, err
		}
		return nil, turn.Broken
	}
	answer, err := c.EncodeResponse(nil, m.response(n, turn), asked.Stream)
	if err != nil {
		return nil, err
	}
	if turn.Body != nil {
		answer = []byte(*turn.Body)
	}
	i := m.interaction(req, body, answer, turn, asked.Stream)
	m.mu.Lock()
	m.kept = append(m.kept, i) // before the wait: an answer that came too late is replayed as one
	m.mu.Unlock()
	if err := clock.Pass(req.Context(), turn.Latency); err != nil {
		return nil, err
	}
	return httpResponse(req, &i.Response), nil
}

// next takes the turn for a request, with the request's number.
func (m *Model) next(r *wire.Request, body []byte) (int, *Turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.n == 0 || !bytes.Equal(body, m.last) {
		m.calls++
	}
	m.n++
	m.last = body
	a := asked{call: m.calls, results: resultsOf(r)}
	if m.Number != nil {
		a.call = m.Number()
	}
	i, err := m.choose(&a)
	if err != nil {
		return 0, nil, err
	}
	return m.n, &m.Turns[i], nil
}

// Interactions are the requests and answers so far.
func (m *Model) Interactions() []cassette.Interaction {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]cassette.Interaction(nil), m.kept...)
}

func (m *Model) response(n int, t *Turn) *wire.Response {
	return t.Response(m.Name, m.mark("scripted"), m.mark("call"), n)
}

// Response is the n-th answer of the model. Ids that the turn leaves out are made
// of the two words and n.
func (t *Turn) Response(model, message, call string, n int) *wire.Response {
	if t.Error != nil {
		failed := *t.Error
		failed.Status = max(t.Status, http.StatusOK)
		return &wire.Response{Err: &failed}
	}
	r := &wire.Response{
		ID: fmt.Sprintf("msg_%s_%02d", message, n), Model: model, Message: wire.Message{Role: wire.RoleAssistant},
		Stop: wire.StopDone, Complete: true,
		Usage: wire.Usage{Input: &t.Usage.Input, Output: &t.Usage.Output},
	}
	if t.Usage.CacheRead > 0 {
		r.Usage.CacheRead = &t.Usage.CacheRead
	}
	if t.Text != "" {
		r.Message.Blocks = append(r.Message.Blocks, wire.Block{Kind: wire.KindText, Text: t.Text})
	}
	for i, c := range t.Calls {
		r.Stop = wire.StopToolCalls
		if c.ID == "" {
			c.ID = fmt.Sprintf("%s_%02d_%d", call, n, i+1)
		}
		b := wire.Block{Kind: wire.KindToolCall, ID: c.ID, Name: c.Name}
		wire.ReadArgs(&b, []byte(c.Args))
		r.Message.Blocks = append(r.Message.Blocks, b)
	}
	switch {
	case t.NoStop:
		r.Stop = wire.StopNone
	case t.Stop != "":
		r.RawStop, r.Stop = []string{t.Stop}, wire.StopUnknown
	}
	if t.Cut {
		r.Complete = false
		r.Problems = []wire.Problem{{Kind: wire.ProblemNoTerminal, Block: -1}}
	}
	return r
}

// mark keeps the ids of a conversation that another script began apart from those
// of this one.
func (m *Model) mark(word string) string {
	if m.Number != nil {
		return word + "_on"
	}
	return word
}

func (m *Model) interaction(req *http.Request, asked, answer []byte, t *Turn, stream bool) cassette.Interaction {
	status := max(t.Status, http.StatusOK)
	kind := "application/json"
	if stream && status == http.StatusOK {
		kind = "text/event-stream; charset=utf-8"
	}
	header := cassette.Header{{Name: "Content-Type", Value: kind}}
	if t.RetryAfter > 0 {
		header = append(header, cassette.Field{Name: "Retry-After", Value: strconv.Itoa(int(t.RetryAfter / time.Second))})
	}
	return cassette.Interaction{
		Request: cassette.Request{
			Method: req.Method, URL: req.URL.String(), Host: req.URL.Host, Body: asked,
			Header: cassette.HeaderOf(req.Header), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			ContentLength: int64(len(asked)),
		},
		Response: cassette.Response{
			Code: status, Status: strconv.Itoa(status) + " " + http.StatusText(status), Body: answer,
			Header: header,
			Proto:  "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(answer)), Duration: t.Latency,
		},
	}
}

func httpResponse(req *http.Request, r *cassette.Response) *http.Response {
	return &http.Response{
		Status: r.Status, StatusCode: r.Code, Proto: r.Proto, ProtoMajor: 1, ProtoMinor: 1, Header: r.Header.HTTP(),
		ContentLength: int64(len(r.Body)), Body: io.NopCloser(bytes.NewReader(r.Body)), Request: req,
	}
}
