package wiretest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
)

// FuzzRequest is the body of a fuzz target: whatever can be read can be written
// and then reads the same; whatever cannot is an error with a class.
func FuzzRequest(t *testing.T, c wire.Codec, path string, body []byte) {
	t.Helper()
	r, err := c.DecodeRequest(path, body)
	if err != nil {
		if failure.Of(err) != failure.Protocol {
			t.Errorf("%q: error without a class: %v", body, err)
		}
		return
	}
	first, err := c.EncodeRequest(nil, r)
	if err != nil {
		return // a request that only the neutral form can say
	}
	again, err := c.DecodeRequest(path, first)
	if err != nil {
		t.Fatalf("%q\nwritten as %s\ncannot be read: %v", body, first, err)
	}
	second, err := c.EncodeRequest(nil, again)
	if err != nil {
		t.Fatalf("%q\nwritten as %s\ncannot be written again: %v", body, first, err)
	}
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		t.Fatalf("%q\nchanges when written again (-first +second):\n%s", body, diff)
	}
	wire.Normal(nil, c, r)
}

// FuzzResponse is the body of a fuzz target for answers: whatever can be read
// can be written in both forms, and its turn sent back.
func FuzzResponse(t *testing.T, c wire.Codec, body []byte) {
	t.Helper()
	for _, status := range []int{200, 500} {
		r, err := c.DecodeResponse(status, "", body)
		if err != nil {
			if failure.Of(err) != failure.Protocol {
				t.Errorf("%q: error without a class: %v", body, err)
			}
			continue
		}
		for _, stream := range []bool{false, true} {
			written, err := c.EncodeResponse(nil, r, stream)
			if err != nil {
				continue
			}
			if _, err := c.DecodeResponse(status, "", written); err != nil {
				t.Fatalf("%q\nwritten (stream %v) as %s\ncannot be read: %v", body, stream, written, err)
			}
		}
		next, err := c.EncodeRequest(nil, &wire.Request{Messages: []wire.Message{r.Message}})
		if err != nil {
			continue
		}
		if _, err := c.DecodeRequest(c.Path("m", false), next); err != nil {
			t.Fatalf("%q\nsent back as %s\ncannot be read: %v", body, next, err)
		}
	}
}
