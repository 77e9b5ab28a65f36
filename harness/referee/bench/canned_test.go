package bench_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// canned is the API while the stories are recorded: its n-th answer goes to the
// n-th request, whatever that is.
type canned struct {
	answers [][]byte
	asked   []exchange
}

// exchange is a request and the answer it got.
type exchange struct {
	request  *http.Request
	body     []byte
	response *http.Response
	answer   []byte
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	n := len(c.asked)
	if n >= len(c.answers) {
		return nil, fmt.Errorf("request %d, and the story has %d answers", n+1, len(c.answers))
	}
	resp := &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{
			"Content-Type": {"application/json"}, "Request-Id": {fmt.Sprintf("req_%08d", n)},
			"Anthropic-Ratelimit-Requests-Limit": {"4000"}, "Anthropic-Ratelimit-Requests-Remaining": {"3998"},
		},
		Body: io.NopCloser(bytes.NewReader(c.answers[n])), ContentLength: int64(len(c.answers[n])),
	}
	c.asked = append(c.asked, exchange{r, body, resp, c.answers[n]})
	return resp, nil
}
