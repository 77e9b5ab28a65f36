package cassette

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	govcr "gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"

	"github.com/retake-harness/retake/harness/internal/body"
)

// exchange is what was asked and answered, ready to be filed: redacted, whole.
// Nobody else has its parts.
type exchange struct {
	req  *http.Request
	sent []byte         // the request's body
	resp *http.Response // without its Body; nil where there was no answer
	got  []byte         // the answer's body
}

// filed lets go-vcr's own recorder file the exchange, so that what stands in a
// cassette is what it would have put there. It is given the answer by a transport
// that reaches nobody, and sees only clones.
//
// It refuses a request whose query or Content-Type it cannot parse as a form's;
// such a one was asked and paid for all the same. It is filed without them, and
// they are put back.
func filed(x *exchange) (Interaction, error) {
	in, err := fileByGoVCR(x, x.req)
	if err != nil {
		plain := x.req.Clone(x.req.Context())
		plain.URL.RawQuery = ""
		plain.Header.Del("Content-Type")
		if in, err = fileByGoVCR(x, plain); err != nil {
			return Interaction{}, err
		}
		in.Request.URL, in.Request.Headers = x.req.URL.String(), x.req.Header
	}
	return fromGoVCR(in), nil
}

func fileByGoVCR(x *exchange, req *http.Request) (*govcr.Interaction, error) {
	var in *govcr.Interaction
	grab := func(i *govcr.Interaction) error { in = i; return nil }
	vcr, err := recorder.New("exchange",
		recorder.WithMode(recorder.ModeRecordOnly),
		recorder.WithRealTransport(captured{x}),
		recorder.WithSkipRequestLatency(true),
		recorder.WithHook(grab, recorder.AfterCaptureHook),
		recorder.WithFS(noFiles{}),
		recorder.WithDebugWriter(mute{}))
	if err != nil {
		return nil, err
	}
	req = req.Clone(context.Background()) // the client's own context may have ended by now
	req.Body, req.ContentLength = http.NoBody, int64(len(x.sent))
	if len(x.sent) > 0 {
		req.Body = body.Of(x.sent)
	}
	resp, err := vcr.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	return in, resp.Body.Close()
}

// captured is a transport that gives the one answer.
type captured struct{ x *exchange }

func (c captured) RoundTrip(req *http.Request) (*http.Response, error) {
	// What is filed of a request's body is what a transport reads of it.
	if req.Body != nil {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
	}
	resp := &http.Response{Header: http.Header{}}
	if c.x.resp != nil {
		clone := *c.x.resp
		resp = &clone
	}
	resp.Body, resp.Request = io.NopCloser(bytes.NewReader(c.x.got)), req
	return resp, nil
}

// noFiles is a file system without any: the recorder is never asked to save.
type noFiles struct{}

func (noFiles) ReadFile(string) ([]byte, error) { return nil, errors.ErrUnsupported }
func (noFiles) WriteFile(string, []byte) error  { return errors.ErrUnsupported }
func (noFiles) IsFileExists(string) bool        { return false }

// mute takes go-vcr's debug output, which VCR_DEBUG in the environment would
// otherwise send to the terminal, bodies and all.
type mute struct{}

func (mute) Write(p []byte) (int, error) { return len(p), nil }

func fromGoVCR(in *govcr.Interaction) Interaction {
	q, a := &in.Request, &in.Response
	return Interaction{
		Request: Request{
			Method: q.Method, URL: q.URL, Host: q.Host, Header: HeaderOf(q.Headers), Body: []byte(q.Body), Form: HeaderOf(http.Header(q.Form)),
			Proto: q.Proto, ProtoMajor: q.ProtoMajor, ProtoMinor: q.ProtoMinor, ContentLength: q.ContentLength,
			TransferEncoding: q.TransferEncoding, Trailer: HeaderOf(q.Trailer), RemoteAddr: q.RemoteAddr, RequestURI: q.RequestURI,
		},
		Response: Response{
			Code: a.Code, Status: a.Status, Header: HeaderOf(a.Headers), Body: []byte(a.Body),
			Proto: a.Proto, ProtoMajor: a.ProtoMajor, ProtoMinor: a.ProtoMinor, ContentLength: a.ContentLength,
			TransferEncoding: a.TransferEncoding, Trailer: HeaderOf(a.Trailer), Uncompressed: a.Uncompressed,
		},
	}
}
