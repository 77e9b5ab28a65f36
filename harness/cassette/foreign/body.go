package foreign

import (
	"bytes"
	"net/http"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// nowhere is the host of requests that nobody recorded. The domain invalid is
// reserved (RFC 6761).
const nowhere = "https://unrecorded.retake.invalid"

// readJSON reads a file that begins like JSON.
func readJSON(text []byte, name string) (*File, error) {
	root, more, err := jsonTree(text, name)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, invalid(name, 1, 1, "the file holds several JSON values: lines of JSON, as agents log, are not read; %s", readable)
	}
	f, err := byTree(root, text, name)
	if f != nil || err != nil {
		return f, err
	}
	if _, ok := codec.DetectAnswer(text); ok {
		return readAnswer(text, name)
	}
	if api, ok := codec.Detect(http.MethodPost, "/", text); ok {
		return half(name, Request, RequestOnly, cassette.Interaction{Line: 1, Request: asked(api, "", false, text)}), nil
	}
	return nil, invalid(name, 1, 1, "the file is JSON, but no recording, nor the body of a request or an answer of the APIs that retake reads; %s", readable)
}

// readYAML reads a file that is none of the others.
func readYAML(text []byte, name string) (*File, error) {
	root, more, err := yamlTree(text, name)
	if err != nil {
		return nil, err
	}
	f, err := byTree(root, text, name)
	if err != nil {
		return nil, err
	}
	switch {
	case f == nil:
		return nil, invalid(name, 1, 1, "the file is no recording; %s", readable)
	case more:
		return nil, invalid(name, 1, 1, "the file holds several YAML documents, of which no recorder writes more than one; cut it up")
	}
	return f, nil
}

// readAnswer reads the body of an answer: JSON or a stream.
func readAnswer(text []byte, name string) (*File, error) {
	api, ok := codec.DetectAnswer(text)
	if !ok {
		return nil, invalid(name, 1, 1, "the file looks like the body of an answer, but of none of the APIs that retake reads")
	}
	c, _ := codec.For(api)
	stream, model := streamed(text), ""
	if r, err := c.DecodeResponse(http.StatusOK, "", text); err == nil {
		model = r.Model
	}
	in := cassette.Interaction{Line: 1, Request: asked(api, model, stream, nil), Response: answer(stream, text)}
	f := half(name, Answer, AnswerOnly, in)
	f.Warnings = append(f.Warnings, cassette.Warning{Text: "the file is the body of an answer: its request was not recorded, and its status is taken to be 200"})
	return f, nil
}

func streamed(text []byte) bool {
	trimmed := bytes.TrimSpace(text)
	return sse.Is("", text) || len(trimmed) > 0 && trimmed[0] == '['
}

func half(name string, f Format, h Half, in cassette.Interaction) *File {
	return &File{File: &cassette.File{Name: name, Version: 2, Interactions: []cassette.Interaction{in}}, Format: f, Half: h}
}

// asked is the request that a body was or would be sent in.
func asked(api wire.API, model string, stream bool, body []byte) cassette.Request {
	if model == "" {
		model = "unknown"
	}
	c, _ := codec.For(api)
	return cassette.Request{
		Method: http.MethodPost, URL: nowhere + c.Path(model, stream), Host: nowhere[len("https://"):], Body: body, ContentLength: int64(len(body)),
		Header: cassette.Header{{Name: "Content-Type", Value: "application/json"}}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
}

func answer(stream bool, body []byte) cassette.Response {
	kind := "application/json"
	if stream && !isJSON(body) {
		kind = "text/event-stream"
	}
	return cassette.Response{
		Code: http.StatusOK, Status: "200 OK", Body: body, ContentLength: int64(len(body)),
		Header: cassette.Header{{Name: "Content-Type", Value: kind}}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
}

// exchange reads an object with a request and a response: both with method, address,
// status and headers, or both as the bare bodies.
func (r *reader) exchange(root *node) (*File, error) {
	q, a := root.get("request"), root.get("response")
	if q.first("method", "url", "uri") != nil {
		if err := r.recorded(root); err != nil {
			return nil, err
		}
		return r.done(Exchange)
	}
	request, response := q.json(nil), []byte(a.word())
	if a.kind == object || a.kind == list {
		response = a.json(nil)
	}
	in, err := joined(request, response)
	if err != nil {
		return nil, r.fail(root, "%v", err)
	}
	r.file.Interactions = append(r.file.Interactions, in)
	return r.done(Exchange)
}

// Join makes one exchange of the body of a request and the body of its answer.
func Join(request, response *File) (*File, error) {
	if request.Half != RequestOnly || response.Half != AnswerOnly {
		return nil, invalid(request.Name, 1, 1, "only the body of a request and the body of an answer can be joined")
	}
	in, err := joined(request.Interactions[0].Request.Body, response.Interactions[0].Response.Body)
	if err != nil {
		return nil, invalid(response.Name, 1, 1, "joining it with the request in %s: %v", request.Name, err)
	}
	return half(request.Name, Exchange, Whole, in), nil
}
