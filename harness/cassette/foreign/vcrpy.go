package foreign

// vcrpy reads the interactions of VCR.py. Its recorders differ by the client: a
// body is a text, base64, or an object with a text named string; httpx had content
// and status_code. Some projects write JSON bodies as YAML, named parsed_body.
func (r *reader) vcrpy(interactions *node) (*File, error) {
	for _, n := range interactions.items {
		if err := r.recorded(n); err != nil {
			return nil, err
		}
	}
	return r.done(VCRpy)
}

// split reads a file that keeps requests and responses in two lists, as LangChain's
// serializer for VCR.py does.
func (r *reader) split(requests, responses *node) (*File, error) {
	if len(requests.items) != len(responses.items) {
		return nil, r.fail(requests, "there are %d requests and %d responses; the file may be cut off", len(requests.items), len(responses.items))
	}
	for i, q := range requests.items {
		both := &node{kind: object, line: q.line, column: q.column, members: []member{{"request", q}, {"response", responses.items[i]}}}
		if err := r.recorded(both); err != nil {
			return nil, err
		}
	}
	return r.done(VCRpy)
}

// recorded files one exchange that has a request and a response.
func (r *reader) recorded(n *node) error {
	q, a := n.get("request"), n.get("response")
	if !q.is(object) || !a.is(object) {
		return r.fail(n, "interaction %d has no request with a response; the file may be cut off", len(r.file.Interactions)+1)
	}
	e := &exchange{
		line: n.line, column: n.column,
		method: q.get("method").word(), url: q.first("uri", "url").word(),
		sent: headerOf(q.get("headers")), received: headerOf(a.get("headers")),
		answeredIn: a.get("http_version").word(),
	}
	var err error
	if e.request, err = r.body(q); err != nil {
		return err
	}
	if e.response, err = r.body(a); err != nil {
		return err
	}
	e.code, e.reason = status(a)
	return r.add(e)
}

// status reads {code, message}, a number, or a number under another name.
func status(a *node) (code int, reason string) {
	s := a.first("status", "status_code", "code")
	if s.is(object) {
		return whole(s.get("code")), s.get("message").word()
	}
	return whole(s), ""
}

// body reads the body of a request or response in any of its forms.
func (r *reader) body(n *node) ([]byte, error) {
	if parsed := n.get("parsed_body"); parsed != nil {
		return parsed.json(nil), nil
	}
	b := n.first("body", "content")
	for depth := 0; b != nil && depth < maxDepth; depth++ {
		switch {
		case b.kind == list: // the state of a Python object: its value comes first
			b = b.head()
		case b.kind != object:
			return []byte(b.text), nil
		case b.get("base64_string") != nil:
			b = b.get("base64_string")
			raw, err := decode64(b.word())
			if err != nil {
				return nil, r.fail(b, "base64_string is no base64")
			}
			return raw, nil
		case b.first("string", "state") != nil:
			b = b.first("string", "state")
		case len(b.members) == 0 || b.get("encoding") != nil:
			return nil, nil
		default: // a body that was written as what it says
			return b.json(nil), nil
		}
	}
	return nil, nil
}
