package openairesponses_test

import (
	"testing"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openairesponses"
)

// What was decoded can be encoded, and that decodes again.
func FuzzDecodeRequest(f *testing.F) {
	for _, r := range requests() {
		f.Add([]byte(r.Body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := openairesponses.Codec{}
		r, err := c.DecodeRequest("", body)
		if err != nil {
			if failure.Of(err) != failure.Protocol {
				t.Fatalf("class %s: %v", failure.Of(err), err)
			}
			return
		}
		again, err := c.EncodeRequest(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.DecodeRequest("", again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		c.Canonical(r)
		if again, err = c.EncodeRequest(nil, r); err != nil {
			t.Fatal(err)
		}
		if _, err := c.DecodeRequest("", again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}

func FuzzDecodeResponse(f *testing.F) {
	for _, a := range append(jsonAnswers(), streamAnswers()...) {
		f.Add(a.Status == 0, []byte(a.Body))
	}
	f.Fuzz(func(t *testing.T, good bool, body []byte) {
		status := 200
		if !good {
			status = 500
		}
		c := openairesponses.Codec{}
		r, err := c.DecodeResponse(status, "", body)
		if err != nil {
			if failure.Of(err) != failure.Protocol {
				t.Fatalf("class %s: %v", failure.Of(err), err)
			}
			return
		}
		for _, stream := range []bool{false, true} {
			again, err := c.EncodeResponse(nil, r, stream)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.DecodeResponse(status, "", again); err != nil {
				t.Fatalf("%s: %v", again, err)
			}
		}
		next := &wire.Request{Messages: []wire.Message{r.Message}}
		again, err := c.EncodeRequest(nil, next)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.DecodeRequest("", again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}
