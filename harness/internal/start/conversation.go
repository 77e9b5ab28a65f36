package start

import (
	"net/url"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// Conversation is what one agent and its model said to each other in a recording.
type Conversation struct {
	File         *cassette.File
	Whole        bool // the file has nothing else
	API          wire.API
	Requests     []*wire.Request
	Interactions []int // their places in the file

	codec wire.Codec
}

// Conversations takes a recording apart. A request belongs to the conversation with
// whose first request it begins, or, where the provider keeps the history, to the
// latest. What is no model call is in none; what cannot be read is an error.
func Conversations(f *cassette.File) ([]*Conversation, error) {
	var out []*Conversation
	for i := range f.Interactions {
		q := &f.Interactions[i].Request
		api, ok := codec.Detect(q.Method, q.URL, q.Body)
		if !ok {
			continue
		}
		c, _ := codec.For(api)
		req, err := c.DecodeRequest(q.URL, q.Body)
		if err != nil {
			return nil, failure.Errorf(failure.CassetteInvalid, "%s: interaction %d: %w", f.Name, i+1, err)
		}
		at := slices.IndexFunc(out, func(c *Conversation) bool {
			return c.API == api && c.Requests[0].Model == req.Model && (req.Continues || wire.HasPrefix(req.Messages, c.Requests[0].Messages))
		})
		if at < 0 {
			at = len(out)
			out = append(out, &Conversation{File: f, API: api, codec: c})
		}
		out[at].Requests = append(out[at].Requests, req)
		out[at].Interactions = append(out[at].Interactions, i)
	}
	if len(out) == 1 && len(out[0].Interactions) == len(f.Interactions) {
		out[0].Whole = true
	}
	return out, nil
}

// Cassette is the conversation's part of the recording.
func (c *Conversation) Cassette() *cassette.File {
	part := *c.File
	part.Version, part.Interactions = 2, nil
	for n, i := range c.Interactions {
		in := c.File.Interactions[i]
		in.ID = n
		part.Interactions = append(part.Interactions, in)
	}
	return &part
}

// BaseURL is what the recorded agent had for one: the address without the API's
// path, with the parts of the query that are not the API's. False where the address
// does not end in the API's path.
func (c *Conversation) BaseURL() (string, bool) {
	u, err := url.Parse(c.File.Interactions[c.Interactions[0]].Request.URL)
	if err != nil {
		return "", false
	}
	path, own, _ := strings.Cut(c.codec.Path(c.Requests[0].Model, c.Requests[0].Stream), "?")
	before, found := strings.CutSuffix(u.Path, path)
	if !found {
		_, path, _ = strings.Cut(path[1:], "/")
		before, found = strings.CutSuffix(u.Path, "/"+path)
	}
	if !found {
		return "", false
	}
	query := slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(pair string) bool { return pair == "" || pair == own })
	base := u.Scheme + "://" + u.Host + before
	if len(query) > 0 {
		base += "?" + strings.Join(query, "&")
	}
	return base, true
}

// last is the request with the longest history.
func (c *Conversation) last() *wire.Request { return c.Requests[len(c.Requests)-1] }

// later are the messages that follow the first request: the model's turns, the
// results of tools, and what the user says next.
func (c *Conversation) later() []wire.Message {
	if !c.last().Continues {
		return c.last().Messages[min(len(c.Requests[0].Messages), len(c.last().Messages)):]
	}
	var out []wire.Message
	for _, r := range c.Requests[1:] {
		out = append(out, r.Messages...)
	}
	return out
}

// calls are the tool calls of the recorded answers, in the order of the wire.
func (c *Conversation) calls() []wire.Block {
	var out []wire.Block
	for _, i := range c.Interactions {
		a := &c.File.Interactions[i].Response
		body, err := a.Plain()
		if err != nil {
			continue
		}
		if r, err := c.codec.DecodeResponse(a.Code, a.Header.Get("Content-Type"), body); err == nil && r.Err == nil {
			out = append(out, r.Calls()...)
		}
	}
	return out
}

// Tools are the tool calls with the results that later requests carry, as
// interactions of a tools' cassette: found by the call's id or, where client and
// provider share none, by its number. A call without a result has none.
func (c *Conversation) Tools() ([]cassette.Interaction, error) {
	byID, inOrder := map[string]wire.Block{}, []wire.Block(nil)
	for _, m := range c.later() {
		for _, b := range m.Blocks {
			if b.Kind == wire.KindToolResult {
				byID[b.ID] = b
				inOrder = append(inOrder, b)
			}
		}
	}
	var out []cassette.Interaction
	for n, call := range c.calls() {
		b, ok := byID[call.ID]
		switch {
		case call.Args == nil:
			continue
		case ok && call.ID != "":
		case n < len(inOrder):
			b = inOrder[n]
		default:
			continue
		}
		in, err := cassette.ToolInteraction(tool.Call{Tool: call.Name, Args: call.Args}, result(&b), 0)
		if err != nil {
			return nil, err
		}
		in.ID = len(out)
		out = append(out, in)
	}
	return out, nil
}

// result is what a tool said, as far as the model was told.
func result(b *wire.Block) tool.Result {
	var said strings.Builder
	for _, part := range b.Result {
		said.WriteString(part.Text)
	}
	if b.IsError {
		return tool.Result{Err: &tool.Error{Code: tool.CodeUpstream, Message: said.String(), Class: failure.ToolFailed}}
	}
	return tool.Result{Content: said.String()}
}
