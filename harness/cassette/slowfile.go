package cassette

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"
)

func (w *walker) file(n *yaml.Node, f *File) {
	var version, interactions *yaml.Node
	if n = w.visit(n); n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		w.fail(n, "a cassette has version and interactions, this file is %s", describe(n))
		return
	}
	w.members(n, "the cassette", func(key string, k, v *yaml.Node) {
		switch key {
		case "version":
			version = v
		case "interactions":
			interactions = v
		case "x-retake":
			w.notes(v, &f.Notes)
		default:
			w.unknown(k, key)
		}
	})
	if version == nil {
		w.fail(n, "the file has no version, so it is no cassette")
	}
	if w.err != nil {
		return
	}
	f.Version = w.version(version)
	if interactions == nil {
		w.fail(n, "the cassette has no interactions; the file may be cut off")
	}
	if w.err != nil {
		return
	}
	w.elements(interactions, "interactions", func(e *yaml.Node) {
		f.Interactions = append(f.Interactions, w.interaction(e, len(f.Interactions)+1))
	})
	f.Warnings = w.warn
}

// version is read apart, so that a file of another tool or time is named as
// such before its other members are looked at.
func (w *walker) version(n *yaml.Node) int {
	switch n = w.visit(n); {
	case n == nil:
	case n.Kind == yaml.ScalarNode && n.Value == "1":
		return 1
	case n.Kind == yaml.ScalarNode && n.Value == "2":
		return 2
	default:
		w.fail(n, "unknown cassette version %s; retake reads versions 1 and 2 of go-vcr", describe(n))
	}
	return 0
}

func (w *walker) unknown(k *yaml.Node, key string) {
	w.warn = append(w.warn, Warning{Line: k.Line, Text: fmt.Sprintf("unknown member %q is left out", key)})
}

func (w *walker) interaction(n *yaml.Node, ordinal int) Interaction {
	what := fmt.Sprintf("interaction %d", ordinal)
	in := Interaction{}
	place := n
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		place = n.Alias
	}
	in.Line = place.Line
	var request, response bool
	w.members(n, what, func(key string, k, v *yaml.Node) {
		switch key {
		case "id":
			in.ID = w.int(v, what+" id")
		case "request":
			request = true
			w.request(v, what+" request", &in.Request)
		case "response":
			response = true
			w.response(v, what+" response", &in.Response)
		case "x-retake":
			in.Notes = new(Notes)
			w.notes(v, in.Notes)
		default:
			w.unknown(k, key)
		}
	})
	switch {
	case !request:
		w.fail(place, "%s has no request; the file may be cut off", what)
	case !response && (in.Notes == nil || in.Notes.Transport == nil):
		w.fail(place, "%s has no response; the file may be cut off", what)
	}
	return in
}

func (w *walker) request(n *yaml.Node, what string, q *Request) {
	w.members(n, what, func(key string, k, v *yaml.Node) {
		field := what + " " + key
		switch key {
		case "proto":
			q.Proto = w.string(v, field)
		case "proto_major":
			q.ProtoMajor = w.int(v, field)
		case "proto_minor":
			q.ProtoMinor = w.int(v, field)
		case "content_length":
			q.ContentLength = w.integer(v, field)
		case "transfer_encoding":
			q.TransferEncoding = w.texts(v, field)
		case "trailer":
			q.Trailer = w.header(v, field)
		case "host":
			q.Host = w.string(v, field)
		case "remote_addr":
			q.RemoteAddr = w.string(v, field)
		case "request_uri":
			q.RequestURI = w.string(v, field)
		case "body":
			q.Body = w.bytes(v, field)
		case "form":
			q.Form = w.header(v, field)
		case "headers":
			q.Header = w.header(v, field)
		case "url":
			q.URL = w.string(v, field)
		case "method":
			q.Method = w.string(v, field)
		default:
			w.unknown(k, key)
		}
	})
}

func (w *walker) response(n *yaml.Node, what string, a *Response) {
	w.members(n, what, func(key string, k, v *yaml.Node) {
		field := what + " " + key
		switch key {
		case "proto":
			a.Proto = w.string(v, field)
		case "proto_major":
			a.ProtoMajor = w.int(v, field)
		case "proto_minor":
			a.ProtoMinor = w.int(v, field)
		case "transfer_encoding":
			a.TransferEncoding = w.texts(v, field)
		case "trailer":
			a.Trailer = w.header(v, field)
		case "content_length":
			a.ContentLength = w.integer(v, field)
		case "uncompressed":
			a.Uncompressed = w.bool(v, field)
		case "body":
			a.Body = w.bytes(v, field)
		case "headers":
			a.Header = w.header(v, field)
		case "status":
			a.Status = w.string(v, field)
		case "code":
			a.Code = w.int(v, field)
		case "duration":
			a.Duration = w.duration(v, field)
		default:
			w.unknown(k, key)
		}
	})
}

// notes reads an x-retake member in any YAML spelling.
func (w *walker) notes(n *yaml.Node, into any) {
	text := w.json(nil, n, 0)
	if w.err != nil {
		return
	}
	if err := decodeNotes(text, into); err != nil {
		w.fail(n, "x-retake does not fit: %s", plainJSONError(err))
	}
}

const maxDepth = 100

// json appends a node as JSON text.
func (w *walker) json(dst []byte, n *yaml.Node, depth int) []byte {
	if n = w.visit(n); n == nil {
		return dst
	}
	if depth > maxDepth {
		w.fail(n, "x-retake is nested deeper than %d levels", maxDepth)
		return dst
	}
	switch n.Kind {
	case yaml.MappingNode:
		return w.jsonObject(dst, n, depth)
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, e := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = w.json(dst, e, depth+1)
		}
		return append(dst, ']')
	default:
		return w.jsonScalar(dst, n)
	}
}

func (w *walker) jsonObject(dst []byte, n *yaml.Node, depth int) []byte {
	dst = append(dst, '{')
	first := true
	w.members(n, "x-retake", func(key string, k, v *yaml.Node) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = w.jsonQuote(dst, k, key)
		dst = append(dst, ':')
		dst = w.json(dst, v, depth+1)
	})
	return append(dst, '}')
}

func (w *walker) jsonScalar(dst []byte, n *yaml.Node) []byte {
	switch tag := n.ShortTag(); {
	case tag == "!!null":
		return append(dst, "null"...)
	case tag == "!!bool" && w.bool(n, "x-retake"):
		return append(dst, "true"...)
	case tag == "!!bool":
		return append(dst, "false"...)
	case (tag == "!!int" || tag == "!!float") && jsontext.Value(n.Value).IsValid():
		return append(dst, n.Value...)
	}
	return w.jsonQuote(dst, n, w.string(n, "x-retake"))
}

func (w *walker) jsonQuote(dst []byte, n *yaml.Node, s string) []byte {
	dst, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		w.fail(n, "x-retake has a text that is not UTF-8")
	}
	return dst
}
