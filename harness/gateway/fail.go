package gateway

import (
	"errors"
	"net"
	"net/http"
	"syscall"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// fail tells the client of an attempt without an answer. What is retake's own word
// is told in words; what went wrong on the way is done to the client.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, api wire.API, err error) {
	if r.Context().Err() == nil && isOurs(err) {
		refuse(w, api, http.StatusBadRequest, "retake: "+err.Error())
		return
	}
	s.breakOff(w, r, err)
}

// isOurs tells whether an error is one of the harness, as opposed to one of the
// transport.
func isOurs(err error) bool {
	switch failure.Of(err) {
	case failure.Internal, failure.Transport, failure.Timeout, failure.Truncated, failure.Protocol:
		return false
	default:
		return true
	}
}

// breakOff ends the client's connection, or with HTTP/2 its stream; it does not
// return.
func (s *Server) breakOff(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ECONNREFUSED)) {
		reset(w)
	}
	panic(http.ErrAbortHandler)
}

// reset ends a connection as one that the other side has reset; one of HTTP/2
// stays.
func reset(w http.ResponseWriter) {
	h, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	conn, _, err := h.Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // else it is only closed
	}
	_ = conn.Close()
}

// refuse answers with an error in the provider's form that no SDK tries again.
func refuse(w http.ResponseWriter, api wire.API, status int, why string) {
	if api == "" {
		api = wire.OpenAIChat
	}
	c, _ := codec.For(api)
	kind := kindOf(api, status)
	text, err := c.EncodeResponse(nil, &wire.Response{Err: &wire.APIError{Status: status, Type: kind, Kind: kind, Message: why}}, false)
	if err != nil {
		text = []byte(http.StatusText(status))
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Should-Retry", "false")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that is gone need not know
}

// kindOf is the provider's word for a status.
func kindOf(api wire.API, status int) string {
	words := map[int][2]string{
		http.StatusUnauthorized:          {"authentication_error", "UNAUTHENTICATED"},
		http.StatusForbidden:             {"permission_error", "PERMISSION_DENIED"},
		http.StatusNotFound:              {"not_found_error", "NOT_FOUND"},
		http.StatusRequestEntityTooLarge: {"request_too_large", "INVALID_ARGUMENT"},
	}
	w, ok := words[status]
	switch {
	case !ok || api == wire.OpenAIChat || api == wire.OpenAIResponses:
		w[0] = "invalid_request_error"
		if !ok {
			w[1] = "INVALID_ARGUMENT"
		}
	}
	if api == wire.GeminiGenerate {
		return w[1]
	}
	return w[0]
}
