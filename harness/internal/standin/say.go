package standin

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// say gives the answer of a turn, up to the end that it comes to.
func (x *exchange) say(t *script.Turn, end Break) {
	of := strconv.Itoa(x.asked.Conversation)
	r := t.Response(x.asked.Model, idWord+of, "call_"+of, x.asked.Turn)
	if x.asked.API == wire.OpenAIResponses {
		items(r)
	}
	if end.How == EndsError {
		e := usual(x.asked.API, 529)
		e.Status = http.StatusOK
		r.Err = &e
	}
	text, err := x.codec.EncodeResponse(nil, r, x.asked.Stream)
	if err != nil {
		x.refuse(Failure{Status: http.StatusInternalServerError, Error: &wire.APIError{Message: err.Error()}})
		return
	}
	if t.Body != nil {
		text = []byte(*t.Body)
	}
	pieces, kind := x.pieces(text)
	if clock.Sleep(x.req.Context(), t.Latency) != nil {
		x.note(0)
		return
	}
	x.send(pieces, kind, end)
}

// pieces are the parts of an answer that are sent one by one.
func (x *exchange) pieces(text []byte) (pieces [][]byte, kind string) {
	if !x.asked.Stream {
		return [][]byte{text}, "application/json"
	}
	from := 0
	for _, to := range sse.Ends(text) {
		pieces = append(pieces, text[from:to])
		from = to
	}
	if x.asked.API == wire.GeminiGenerate && !strings.Contains(x.asked.URL, "alt=sse") {
		return list(pieces), "application/json"
	}
	return pieces, "text/event-stream; charset=utf-8"
}

// list makes a JSON list of events: Gemini's stream for a client that wants no SSE.
func list(events [][]byte) [][]byte {
	for i, e := range events {
		s := sse.NewScanner(e)
		event, _ := s.Next()
		open := ",\n"
		if i == 0 {
			open = "["
		}
		events[i] = append([]byte(open), event.Data...)
	}
	return append(events, []byte("]"))
}

// send writes the pieces, each at once.
func (x *exchange) send(pieces [][]byte, kind string, end Break) {
	broken := end.How != EndsWell && end.How != EndsError
	if broken && end.After == 0 {
		x.note(0)
		x.end(end.How)
		return
	}
	x.note(http.StatusOK)
	h := x.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Request-Id", fmt.Sprintf("req_%s%d_%02d", idWord, x.asked.Conversation, x.asked.Turn))
	x.w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(x.w)
	if broken && !x.asked.Stream {
		pieces = [][]byte{pieces[0][:min(end.After, len(pieces[0]))]}
		end.After = 1
	}
	for i, piece := range pieces {
		if broken && i == end.After {
			break
		}
		if i > 0 && clock.Sleep(x.req.Context(), x.server.script.Gap) != nil {
			return
		}
		if x.server.script.Before != nil {
			x.server.script.Before(x.req.Context(), x.asked, i)
		}
		if _, err := x.w.Write(bytes.Clone(piece)); err != nil {
			return
		}
		if x.asked.Stream || broken {
			_ = flush.Flush() // a client that has gone is found by the next write
		}
	}
	if broken {
		x.end(end.How)
	}
}

// end breaks the answer off.
func (x *exchange) end(how How) {
	if how == EndsHang {
		if x.server.script.Hung != nil {
			x.server.script.Hung()
		}
		<-x.req.Context().Done()
		return
	}
	x.hangUp(how)
}

// hangUp closes the connection, with a reset where that was asked for.
func (x *exchange) hangUp(how How) {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http closes it then
	}
	if tcp, ok := conn.(*net.TCPConn); ok && how == EndsReset {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
