package harness

import (
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// meaning is how a cassette matches requests in mode normalised.
func meaning(dst []byte, method, target string, body []byte) (key []byte, ok bool) {
	api, ok := codec.Detect(method, target, body)
	if !ok {
		return dst, false
	}
	c, _ := codec.For(api)
	req, err := c.DecodeRequest(target, body)
	if err != nil {
		return dst, false
	}
	return wire.Normal(dst, c, req), true
}
