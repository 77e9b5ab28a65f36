package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// replay is a server that only a recording is left of.
type replay struct {
	file    *cassette.File
	player  *cassette.ToolPlayer
	tools   listing
	guessed bool // the recording has no list of tools

	mu   sync.Mutex // held while the player answers, so that last is the call's own
	last int        // the recording that was played last, from 1
}

// newReplay prepares the replay of a tools' cassette. Under faults its recordings
// may be given again: a call may be delivered more than once.
func newReplay(f *cassette.File, faults bool) (*replay, error) {
	r := &replay{file: f}
	o := cassette.ToolOptions{Observe: func(p cassette.Played) { r.last = p.Recording }}
	if faults {
		o.Again = func(string) bool { return true }
	}
	var err error
	if r.player, err = cassette.NewToolPlayer(f, o); err != nil {
		return nil, err
	}
	if r.tools, err = readListing(f.Notes.Unknown); err != nil {
		return nil, failure.Errorf(failure.CassetteInvalid, "%s: the list of tools under x-retake cannot be read: %w", f.Name, err)
	}
	if !r.tools.known {
		r.guessed = true
		r.tools.guess(r.player.Tools())
	}
	return r, nil
}

// guess lists the tools that there are recordings of.
func (l *listing) guess(names []string) {
	l.known = true
	for _, name := range names {
		l.tools = append(l.tools, must(json.Marshal(described{Name: name, InputSchema: jsontext.Value(`{"type":"object"}`)})))
	}
}

// play answers a call from the recording.
func (r *replay) play(ctx context.Context, c tool.Call) (*jsonrpc.Response, tool.Result, error) {
	r.mu.Lock()
	res, err := r.player.Execute(ctx, c)
	played := r.last
	if miss, ok := errors.AsType[*cassette.Miss](err); ok {
		miss.Command = "retake mcp-proxy --record " + r.file.Name + " -- SERVER"
	}
	r.mu.Unlock()
	if err != nil {
		return nil, res, err
	}
	return spoken(r.file.Interactions[played-1].Notes), res, nil
}

// left are the calls without a recording and the recordings without a call.
func (r *replay) left() (misses, unplayed []string) {
	for _, m := range r.player.Misses() {
		misses = append(misses, m.Error())
	}
	for _, u := range r.player.Unplayed() {
		unplayed = append(unplayed, fmt.Sprintf("%s:%d: recording %d, a %s, was not asked for", r.file.Name, u.Line, u.Recording, u.What))
	}
	return misses, unplayed
}

// spokenVersions are the revisions that a replay can pretend to speak: those whose
// answers have the same form, and that are opened with initialize.
var spokenVersions = [...]string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// answer is what the server would say to a request that is no call of a tool; nil
// to what wants no answer.
func (r *replay) answer(req *jsonrpc.Request) *jsonrpc.Response {
	if !req.IsCall() {
		return nil
	}
	var result any
	switch req.Method {
	case methodInitialize:
		result = r.hello(req.Params)
	case "ping", "logging/setLevel":
		result = struct{}{}
	case methodList:
		result = page{Tools: slices.Concat([]jsontext.Value{}, r.tools.tools)}
	default:
		return &jsonrpc.Response{ID: req.ID, Error: &jsonrpc.Error{
			Code: jsonrpc.CodeMethodNotFound, Message: "a replay of tools answers no " + req.Method,
		}}
	}
	return &jsonrpc.Response{ID: req.ID, Result: must(json.Marshal(result))}
}

// hello is the answer to initialize: what was recorded of the server, in the
// client's version.
func (r *replay) hello(params []byte) any {
	var asked struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &asked) // params of another form ask for none
	out := struct {
		Version      string         `json:"protocolVersion"`
		Capabilities jsontext.Value `json:"capabilities"`
		Server       jsontext.Value `json:"serverInfo"`
		Instructions jsontext.Value `json:"instructions,omitzero"`
		Meta         struct {
			Server jsontext.Value `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta,omitzero"`
	}{}
	if r.tools.hello != nil {
		_ = json.Unmarshal(r.tools.hello, &out) // of another form it is made anew
	}
	if out.Server == nil {
		out.Server = out.Meta.Server // a server of 2026-07-28 has it there
	}
	if out.Server == nil {
		out.Server = jsontext.Value(`{"name":"retake","version":"1"}`)
	}
	out.Meta.Server = nil
	out.Capabilities = jsontext.Value(`{"tools":{}}`)
	out.Version = asked.Version
	if !slices.Contains(spokenVersions[:], out.Version) {
		out.Version = spokenVersions[0]
	}
	return out
}
