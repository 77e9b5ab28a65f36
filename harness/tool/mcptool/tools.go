package mcptool

import (
	"bytes"
	"context"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/tool"
)

// heard is what a server says of its tools word for word: its own order and
// numbers, and which annotations it does not give.
type heard struct {
	mu    sync.Mutex
	tools map[string]spoken
}

type spoken struct {
	Name        string         `json:"name"`
	Input       jsontext.Value `json:"inputSchema"`
	Output      jsontext.Value `json:"outputSchema"`
	Annotations *struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		Idempotent  *bool `json:"idempotentHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	} `json:"annotations"`
}

// message listens to a whole JSON-RPC message.
func (h *heard) message(text []byte) {
	var m struct {
		Result jsontext.Value `json:"result"`
	}
	if bytes.Contains(text, []byte(`"tools"`)) && json.Unmarshal(text, &m) == nil {
		h.result(m.Result)
	}
}

// result listens to the result of a message.
func (h *heard) result(text []byte) {
	var r struct {
		Tools []spoken `json:"tools"`
	}
	if json.Unmarshal(text, &r) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tools == nil {
		h.tools = map[string]spoken{}
	}
	for _, t := range r.Tools {
		h.tools[t.Name] = t
	}
}

func (h *heard) tool(name string) (spoken, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.tools[name]
	return t, ok
}

// Tools asks the server which tools it has, all pages of it. A tool counts as a
// read when its annotation says so, else as a write.
func (s *Session) Tools(ctx context.Context) ([]tool.Decl, error) {
	listed, err := s.Listed(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]tool.Decl, len(listed))
	for i := range listed {
		out[i] = listed[i].Decl
	}
	return out, nil
}

func (s *Session) decl(t *mcp.Tool) (tool.Decl, error) {
	d := tool.Decl{Name: t.Name, Description: t.Description, Effect: tool.EffectWrite}
	said, ok := s.heard.tool(t.Name)
	if !ok {
		var err error
		if said, err = again(t); err != nil {
			return d, err
		}
	}
	d.Input, d.Output = said.Input, said.Output
	if a := said.Annotations; a != nil {
		d.Hints = &tool.Hints{ReadOnly: a.ReadOnly, Destructive: a.Destructive, Idempotent: a.Idempotent, OpenWorld: a.OpenWorld}
	}
	if h := d.Hints; h != nil && h.ReadOnly != nil && *h.ReadOnly {
		d.Effect = tool.EffectRead
	}
	return d, nil
}

// again writes down a tool that was not heard: what of it was false, or not there,
// is then the same.
func again(t *mcp.Tool) (spoken, error) {
	var s spoken
	text, err := json.Marshal(t.InputSchema, json.Deterministic(true))
	if err != nil {
		return s, err
	}
	s.Input = text
	if t.OutputSchema != nil {
		if s.Output, err = json.Marshal(t.OutputSchema, json.Deterministic(true)); err != nil {
			return s, err
		}
	}
	if a := t.Annotations; a != nil {
		if text, err = json.Marshal(map[string]any{
			"readOnlyHint": a.ReadOnlyHint, "destructiveHint": a.DestructiveHint, "idempotentHint": a.IdempotentHint, "openWorldHint": a.OpenWorldHint,
		}); err == nil {
			err = json.Unmarshal(text, &s.Annotations)
		}
	}
	return s, err
}
