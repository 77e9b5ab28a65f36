package wiretest

import (
	"testing"

	"github.com/retake-harness/retake/harness/wire"
)

// Bench measures a codec's four ways and the canonical text.
func Bench(b *testing.B, c wire.Codec, path string, request, answer, stream []byte) {
	b.Helper()
	b.Run("DecodeRequest", func(b *testing.B) {
		b.SetBytes(int64(len(request)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.DecodeRequest(path, request); err != nil {
				b.Fatal(err)
			}
		}
	})
	r, err := c.DecodeRequest(path, request)
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	b.Run("EncodeRequest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if buf, err = c.EncodeRequest(buf[:0], r); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(len(buf)))
	})
	b.Run("Normal", func(b *testing.B) {
		b.SetBytes(int64(len(request)))
		b.ReportAllocs()
		for b.Loop() {
			buf = wire.Normal(buf[:0], c, r)
		}
	})
	benchAnswer(b, c, "JSON", answer)
	benchAnswer(b, c, "Stream", stream)
}

func benchAnswer(b *testing.B, c wire.Codec, name string, body []byte) {
	b.Helper()
	b.Run("DecodeResponse"+name, func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.DecodeResponse(200, "", body); err != nil {
				b.Fatal(err)
			}
		}
	})
	a, err := c.DecodeResponse(200, "", body)
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	b.Run("EncodeResponse"+name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if buf, err = c.EncodeResponse(buf[:0], a, name == "Stream"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
