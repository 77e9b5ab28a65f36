package judge

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// Model is the model that judges.
type Model struct {
	Name    string
	API     wire.API
	BaseURL string
}

// Answer is what a judge said.
type Answer struct {
	Choice string // the allowed answer, as the question spells it; "" when it gave none
	Said   string // all that it said
	Usage  wire.Usage
	Cut    int // bytes of the text that it was not shown
}

// mostRead bounds what is read of an answer.
const mostRead = 4 << 20

// Ask asks the judge about the text, once, by the transport. An answer that is not
// allowed is no error. An error has the class of what went wrong: of the
// transport, of the provider, or protocol where the answer cannot be read.
func Ask(ctx context.Context, by http.RoundTripper, m Model, q Question, text string) (Answer, error) {
	c, ok := codec.For(m.API)
	if !ok {
		return Answer{}, failure.Errorf(failure.ScenarioInvalid, "the judge %s: no such API %q", m.Name, m.API)
	}
	asked, cut := q.request(m.API, m.Name, text)
	a := Answer{Cut: cut}
	body, err := c.EncodeRequest(nil, asked)
	if err != nil {
		return a, failure.Errorf(failure.Internal, "the question to the judge %s: %w", m.Name, err)
	}
	url := wire.Endpoint(m.BaseURL, c.Path(m.Name, false))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return a, failure.Errorf(failure.ScenarioInvalid, "the judge %s: base URL %q: %w", m.Name, m.BaseURL, err)
	}
	wire.SetHeaders(m.API, req.Header)
	resp, err := by.RoundTrip(req)
	if err != nil {
		return a, failure.Classify(err)
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(resp.Body, mostRead))
	if err != nil {
		return a, failure.Classify(err)
	}
	answer, err := c.DecodeResponse(resp.StatusCode, resp.Header.Get("Content-Type"), said)
	if answer != nil {
		a.Usage, a.Said = answer.Usage, answer.Text()
	}
	switch class := wire.ClassOf(answer, err); {
	case err != nil:
		return a, err
	case answer.Err != nil:
		return a, failure.Wrap(class, answer.Err)
	case class != failure.None:
		return a, failure.Errorf(class, "the answer is not whole")
	}
	a.Choice = q.choice(a.Said)
	return a, nil
}

// choice is the allowed answer that was said, and nothing besides; "" for none.
func (q *Question) choice(said string) string {
	said = strings.TrimSpace(said)
	for _, a := range q.Answers {
		if strings.EqualFold(said, a) {
			return a
		}
	}
	return ""
}
