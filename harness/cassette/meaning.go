package cassette

import (
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// codecMeaning is what a request means to the codec of its API.
func codecMeaning(dst []byte, method, target string, body []byte) ([]byte, bool) {
	api, ok := codec.Detect(method, target, body)
	if !ok {
		return dst, false
	}
	c, ok := codec.For(api)
	if !ok {
		return dst, false
	}
	r, err := c.DecodeRequest(target, body)
	if err != nil {
		return dst, false
	}
	return wire.Normal(dst, c, r), true
}
