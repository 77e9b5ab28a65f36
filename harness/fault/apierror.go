package fault

import (
	"fmt"
	"net/http"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// statusLine is the status as HTTP/1.1 spells it.
func statusLine(status int) string {
	text := http.StatusText(status)
	if status == statusOverloaded {
		text = "Overloaded"
	}
	return fmt.Sprintf("%d %s", status, text)
}

// statusOverloaded is Anthropic's own.
const statusOverloaded = 529

// api is the API that the request speaks; "" for one that no codec knows.
func (s *strike) api() wire.API {
	api, _ := codec.Detect(s.req.Method, s.req.URL.String(), s.body)
	return api
}

// fail answers with a provider's error in the provider's own form.
func (s *strike) fail(e *wire.APIError, header http.Header) (*http.Response, error) {
	c, ok := codec.For(s.api())
	if !ok {
		return s.reply(e.Status, header, []byte(`{"error":{"message":"`+e.Message+`"}}`)), nil
	}
	text, err := c.EncodeResponse(nil, &wire.Response{Err: e}, false)
	if err != nil {
		return nil, err
	}
	return s.reply(e.Status, header, text), nil
}
