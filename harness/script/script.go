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
	// When says which request the turn answers.
	When When
}

// When says which request a turn answers; a zero field allows any.
type When struct {
	Code string // of the last tool result: its error's code, or ok
	Tool string // the tool that gave the last result
	Call int    // the number of the model call in the run
}

// Call is one tool call of a turn. ID "" is made up of the turn's number.
type Call struct {
	ID, Name, Args string // Args is JSON, or what is left of it in a turn that was cut
}

// Usage is what a turn is said to have cost, in tokens.
type Usage struct{ Input, Output, CacheRead int64 }

// Model answers the n-th request with the n-th turn. It is an
// http.RoundTripper for one conversation.
type Model struct {
	API   wire.API
	Name  string // reported as the model
	Turns []Turn

	mu   sync.Mutex
	n    int
	kept []cassette.Interaction
}

// RoundTrip implements http.RoundTripper. A request after the last turn is an
// error of class scenario_invalid.
func (m *Model) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_ = req.Body.Close()
	n, turn, err := m.next()
	if err != nil {
		return nil, err
	}
	if turn.Broken != nil {
		if err := clock.Sleep(req.Context(), turn.Latency); err != nil {
			return nil, err
		}
		return nil, turn.Broken
	}
	c, ok := codec.For(m.API)
	if !ok {
		return nil, failure.Errorf(failure.ScenarioInvalid, "script: no such API %q", m.API)
	}
	asked, err := c.DecodeRequest(req.URL.RequestURI(), body)
	if err != nil {
		return nil, err
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
	if err := clock.Sleep(req.Context(), turn.Latency); err != nil {
		return nil, err
	}
	return httpResponse(req, &i.Response), nil
}

func (m *Model) next() (int, Turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.n >= len(m.Turns) {
		return 0, Turn{}, failure.Errorf(failure.ScenarioInvalid, "script: request %d, and there are %d turns; write one more", m.n+1, len(m.Turns))
	}
	m.n++
	return m.n, m.Turns[m.n-1], nil
}

// Left are the numbers of the turns that were never said, from 1.
func (m *Model) Left() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []int
	for n := m.n; n < len(m.Turns); n++ {
		out = append(out, n+1)
	}
	return out
}

// Interactions are the requests and answers so far.
func (m *Model) Interactions() []cassette.Interaction {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]cassette.Interaction(nil), m.kept...)
}

func (m *Model) response(n int, t Turn) *wire.Response {
	if t.Error != nil {
		failed := *t.Error
		failed.Status = max(t.Status, http.StatusOK)
		return &wire.Response{Err: &failed}
	}
	r := &wire.Response{
		ID: fmt.Sprintf("msg_scripted_%02d", n), Model: m.Name, Message: wire.Message{Role: wire.RoleAssistant},
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
			c.ID = fmt.Sprintf("call_%02d_%d", n, i+1)
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

func (m *Model) interaction(req *http.Request, asked, answer []byte, t Turn, stream bool) cassette.Interaction {
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
