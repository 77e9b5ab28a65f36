package wire_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/retake-harness/retake/harness/wire"
)

func packed(t *testing.T, w io.WriteCloser, b *bytes.Buffer, text []byte) []byte {
	t.Helper()
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlain(t *testing.T) {
	text := []byte(`{"type":"message","content":"ü"}`)
	var g, z, f, bomb bytes.Buffer
	zipped := packed(t, gzip.NewWriter(&g), &g, text)
	raw, err := flate.NewWriter(&f, 9)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	br := packed(t, brotli.NewWriter(&b), &b, text)
	for _, tt := range []struct {
		why, encoding string
		body          []byte
		want, fails   string
	}{
		{"no encoding", "", text, string(text), ""},
		{"none by name", "identity", text, string(text), ""},
		{"gzip", "gzip", zipped, string(text), ""},
		{"gzip in other letters", " GZip", zipped, string(text), ""},
		{"deflate", "deflate", packed(t, zlib.NewWriter(&z), &z, text), string(text), ""},
		{"deflate without its wrapping", "deflate", packed(t, raw, &f, text), string(text), ""},
		{"undone by the recorder, which kept the header", "gzip", text, string(text), ""},
		{"the same of an encoding that is not read", "zstd", text, string(text), ""},
		{"nothing", "gzip", nil, "", ""},
		{"brotli", "br", br, string(text), ""},
		{"brotli that is cut off", "br", br[:len(br)-2], "", "the body is no whole br"},
		{"no brotli", "br", []byte{0x00, 0xff, 0xff}, "", "the body is no whole br"},
		{"zstandard", "zstd", []byte{0x28, 0xb5, 0x2f, 0xfd}, "", "the body is compressed with zstd, which retake does not read"},
		{"two encodings", "gzip, br", zipped, "", "compressed with gzip, br, which"},
		{"cut off", "gzip", zipped[:len(zipped)-9], string(text), "the body is no whole gzip"},
		{"no gzip", "gzip", []byte{0, 1, 2}, "", "the body is no gzip, as its Content-Encoding says"},
		{"a bomb", "gzip", packed(t, gzip.NewWriter(&bomb), &bomb, make([]byte, 65<<20)), "", "the body unfolds to more than 64 MB"},
	} {
		got, err := wire.Plain(tt.encoding, tt.body)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if tt.fails == "" && string(got) != tt.want || (tt.fails == "") != (err == nil) || !strings.Contains(said, tt.fails) {
			t.Errorf("%s: %q, %v", tt.why, got[:min(len(got), 80)], err)
		}
	}
}
