package openaichat_test

import (
	"testing"

	"github.com/retake-harness/retake/harness/wire/openaichat"
	"github.com/retake-harness/retake/harness/wire/wiretest"
)

func FuzzDecodeRequest(f *testing.F) {
	for _, r := range requests() {
		f.Add([]byte(r.Body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		wiretest.FuzzRequest(t, openaichat.Codec{}, "/chat/completions", body)
	})
}

func FuzzDecodeResponse(f *testing.F) {
	for _, a := range append(jsonAnswers(), streamAnswers()...) {
		f.Add([]byte(a.Body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { wiretest.FuzzResponse(t, openaichat.Codec{}, body) })
}
