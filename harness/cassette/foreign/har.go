package foreign

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/cassette"
)

// har reads the entries of an HTTP archive (HAR 1.2), of a browser or of Polly.JS.
// What never went over the network is left out.
func (r *reader) har(entries *node) (*File, error) {
	items := slices.Clone(entries.items)
	slices.SortStableFunc(items, func(a, b *node) int { return started(a).Compare(started(b)) })
	for i, n := range items {
		if why := aside(n); why != "" {
			r.warn(n.line, "entry %d (%s) is left out: %s", i+1, beginning(n.get("request").get("url").word()), why)
			continue
		}
		e, err := r.entry(n)
		if err != nil {
			return nil, err
		}
		if err := r.add(e); err != nil {
			return nil, err
		}
	}
	return r.done(HAR)
}

func started(n *node) time.Time {
	t, err := time.Parse(time.RFC3339Nano, n.get("startedDateTime").word())
	if err != nil {
		return time.Time{}
	}
	return t
}

// aside says why an entry is no traffic, "" for one that is.
func aside(n *node) string {
	address := n.get("request").get("url").word()
	switch {
	case n.get("_resourceType").word() == "websocket", n.get("_webSocketMessages") != nil, strings.HasPrefix(address, "ws:"), strings.HasPrefix(address, "wss:"):
		return "it is a websocket, whose frames are no requests with answers"
	case n.get("_fromCache") != nil:
		return "it came from the browser's cache"
	case n.get("_error") != nil:
		return "the browser got no answer: " + beginning(n.get("_error").word())
	case n.get("response").get("status").word() == "0":
		return "the browser got no answer"
	}
	return ""
}

func (r *reader) entry(n *node) (*exchange, error) {
	q, a := n.get("request"), n.get("response")
	if !q.is(object) || !a.is(object) {
		return nil, r.fail(n, "an entry has no request with a response; the file may be cut off")
	}
	e := &exchange{
		line: n.line, column: n.column,
		method: q.get("method").word(), url: q.get("url").word(), askedIn: q.get("httpVersion").word(), sent: pairs(q.get("headers")),
		code: whole(a.get("status")), reason: a.get("statusText").word(), answeredIn: a.get("httpVersion").word(), received: pairs(a.get("headers")),
		took: took(n), at: timeOf(n.get("startedDateTime").word()),
	}
	var err error
	if e.request, err = r.content(q.get("postData"), e.sent); err != nil {
		return nil, err
	}
	c := a.get("content")
	if e.response, err = r.content(c, e.received); err != nil {
		return nil, err
	}
	e.lost = len(e.response) == 0 && whole(c.get("size")) > 0
	if kind := c.get("mimeType").word(); kind != "" && e.received.Get("Content-Type") == "" {
		e.received = append(e.received, cassette.Field{Name: "Content-Type", Value: kind})
	}
	return e, nil
}

// pairs reads a list of objects with a name and a value.
func pairs(n *node) cassette.Header {
	if n == nil {
		return nil
	}
	var out cassette.Header
	for _, h := range n.items {
		out = append(out, cassette.Field{Name: h.get("name").word(), Value: h.get("value").word()})
	}
	return out
}

// content reads a body: as text, as base64, or as Polly keeps it, in a list of
// chunks (base64, formerly hex) or as the JSON that it says.
func (r *reader) content(n *node, h cassette.Header) ([]byte, error) {
	if parsed := n.get("textJSON"); parsed != nil {
		return parsed.json(nil), nil
	}
	text := n.get("text")
	if text == nil {
		return nil, nil
	}
	body := []byte(text.word())
	base64 := strings.EqualFold(n.get("encoding").word(), "base64")
	if base64 || h.Get("Content-Encoding") != "" || n.get("_isBinary") != nil {
		if joined, ok := chunks(body, base64); ok {
			return joined, nil
		}
	}
	if !base64 {
		return body, nil
	}
	raw, err := decode64(text.word())
	if err != nil {
		return nil, r.fail(text, "the body is to be base64 and is none")
	}
	return raw, nil
}

// chunks joins a JSON list of encoded texts; false for all else.
func chunks(body []byte, base64 bool) ([]byte, bool) {
	if len(body) == 0 || body[0] != '[' {
		return nil, false
	}
	root, more, err := jsonTree(body, "")
	if err != nil || more || len(root.items) == 0 {
		return nil, false
	}
	read := hex.DecodeString
	if base64 {
		read = decode64
	}
	var out []byte
	for _, c := range root.items {
		raw, err := read(c.word())
		if c.kind != text || err != nil {
			return nil, false
		}
		out = append(out, raw...)
	}
	return out, true
}

// took is how long an entry took: its time, or what its timings add up to.
func took(n *node) time.Duration {
	ms, err := strconv.ParseFloat(n.get("time").word(), 64)
	if err != nil || ms <= 0 {
		ms = 0
		for _, name := range [...]string{"blocked", "dns", "connect", "send", "wait", "receive"} { // ssl is a part of connect
			if v, err := strconv.ParseFloat(n.get("timings").get(name).word(), 64); err == nil && v > 0 {
				ms += v
			}
		}
	}
	const longest = float64(24 * time.Hour / time.Millisecond)
	if !(ms > 0 && ms < longest) {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond)
}
