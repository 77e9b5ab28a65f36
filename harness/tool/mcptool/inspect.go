package mcptool

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// Says is the name that the server gives of itself; "" where it gives none.
func (s *Session) Says() string {
	if r := s.session.InitializeResult(); r != nil && r.ServerInfo != nil {
		return r.ServerInfo.Name
	}
	return ""
}

// Listed is a tool with all that its server says of it.
type Listed struct {
	tool.Decl
	Meta jsontext.Value // its _meta; nil: none
}

// Listed asks the server which tools it has, as Tools does, with their _meta.
func (s *Session) Listed(ctx context.Context) ([]Listed, error) {
	limited, cancel := clock.WithTimeout(ctx, s.server.Timeout)
	defer cancel()
	s.listing.Store(true)
	defer s.listing.Store(false)
	var out []Listed
	n := &note{}
	for t, err := range s.session.Tools(context.WithValue(limited, noteKey{}, n), nil) {
		if err != nil {
			return nil, s.errorf(failure.World, "listing its tools: %s", s.hidden.Text(s.why(limited, n, err).Detail))
		}
		d, err := s.decl(t)
		if err != nil {
			return nil, s.errorf(failure.World, "tool %q: its schema cannot be read: %w", t.Name, err)
		}
		out = append(out, Listed{d, metaOf(t.Meta)})
	}
	s.met.Store(true)
	return out, nil
}

func metaOf(m mcp.Meta) jsontext.Value {
	if len(m) == 0 {
		return nil
	}
	text, err := json.Marshal(map[string]any(m), json.Deterministic(true))
	if err != nil {
		return nil // it came as JSON
	}
	return text
}

// Resource is a resource as its server lists it.
type Resource struct {
	URI, Name, MIME, Description string
	Meta                         jsontext.Value // nil: none
}

// Resources asks the server which resources it has, all pages of it. A server that
// does not know the question has none.
func (s *Session) Resources(ctx context.Context) ([]Resource, error) {
	limited, cancel := clock.WithTimeout(ctx, s.server.Timeout)
	defer cancel()
	var out []Resource
	n := &note{}
	for r, err := range s.session.Resources(context.WithValue(limited, noteKey{}, n), nil) {
		rpc := new(jsonrpc.Error)
		switch {
		case errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound:
			return nil, nil
		case err != nil:
			return nil, s.errorf(failure.World, "listing its resources: %s", s.hidden.Text(s.why(limited, n, err).Detail))
		case r != nil:
			out = append(out, Resource{URI: r.URI, Name: r.Name, MIME: r.MIMEType, Description: r.Description, Meta: metaOf(r.Meta)})
		}
	}
	return out, nil
}

// Content is a part of a resource that was read.
type Content struct {
	URI, MIME, Text string
	Meta            jsontext.Value // nil: none
}

// Read reads a resource. An error is of class world; it may be the server's own
// word that there is no such resource.
func (s *Session) Read(ctx context.Context, uri string) ([]Content, error) {
	limited, cancel := clock.WithTimeout(ctx, s.server.Timeout)
	defer cancel()
	n := &note{}
	res, err := s.session.ReadResource(context.WithValue(limited, noteKey{}, n), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, s.errorf(failure.World, "reading %q: %s", uri, s.hidden.Text(s.why(limited, n, err).Detail))
	}
	out := make([]Content, 0, len(res.Contents))
	for _, c := range res.Contents {
		if c == nil {
			continue
		}
		text := c.Text
		if text == "" {
			text = string(c.Blob)
		}
		out = append(out, Content{URI: c.URI, MIME: c.MIMEType, Text: text, Meta: metaOf(c.Meta)})
	}
	return out, nil
}

// Answer is what a server answers to a call, before anything is made of it.
type Answer struct {
	IsError    bool
	Text       string         // the texts of its content
	Structured jsontext.Value // nil: none
	// Err is what came instead of an answer: an error of the protocol, a timeout, a
	// connection that was lost. Its Detail is the server's word.
	Err *tool.Error
}

// Ask calls a tool and gives the answer as it is.
func (s *Session) Ask(ctx context.Context, name string, args jsontext.Value) Answer {
	if err := s.lost(); err != nil {
		return Answer{Err: s.failed(unavailable(false, err)).Err}
	}
	limited, cancel := clock.WithTimeout(ctx, s.server.Timeout)
	defer cancel()
	s.meet(limited)
	n := &note{}
	res, err := s.session.CallTool(context.WithValue(limited, noteKey{}, n), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return Answer{Err: s.failed(s.why(limited, n, err)).Err}
	}
	a := Answer{IsError: res.IsError, Text: texts(res.Content)}
	if res.StructuredContent != nil {
		if a.Structured, err = json.Marshal(res.StructuredContent, json.Deterministic(true)); err != nil {
			return Answer{Err: s.failed(s.why(limited, n, err)).Err}
		}
	}
	return a
}

// Lost says why the connection is of no use any more; nil while it is.
func (s *Session) Lost() error { return s.lost() }
