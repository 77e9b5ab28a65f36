package foreign

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// errNoAPI says that two bodies are of no API.
var errNoAPI = errors.New("request and response are not the bodies of a call to an API that retake reads")

// joined files two bodies as one exchange. The answer says which API it is: the
// requests of two of them look alike.
func joined(request, response []byte) (cassette.Interaction, error) {
	var in cassette.Interaction
	api, ok := codec.DetectAnswer(response)
	byRequest, known := codec.Detect(http.MethodPost, "/", request)
	switch {
	case !ok && !known:
		return in, errNoAPI
	case !ok:
		api = byRequest
	case known && api != byRequest && !alike(api, byRequest):
		return in, fmt.Errorf("the request is of %s, the answer of %s", byRequest, api)
	}
	c, _ := codec.For(api)
	q, err := c.DecodeRequest(c.Path("unknown", false), request)
	if err != nil {
		return in, err
	}
	in.Line = 1
	in.Request = asked(api, q.Model, streamed(response), request)
	in.Response = answer(streamed(response), response)
	return in, nil
}

// alike tells APIs whose short requests have the same members.
func alike(a, b wire.API) bool {
	chat := func(api wire.API) bool { return api == wire.OpenAIChat || api == wire.AnthropicMessages }
	return chat(a) && chat(b)
}
