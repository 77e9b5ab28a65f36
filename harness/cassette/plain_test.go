package cassette_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
)

// A compressed answer is what net/http makes of it: plain to a client that did
// not ask for the encoding, as it is to one that did.
func TestCompressedAnswers(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte("plain text")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	with := func(encoding, body string) *cassette.File {
		in := recorded("/x", `{}`, body)
		in.Response.Header = cassette.Header{{"content-encoding", encoding}, {"Content-Length", "99"}, {"X-Id", "1"}}
		in.Notes = &cassette.Notes{Chunks: []cassette.Chunk{{Bytes: 3, Micros: 5}}}
		return fileOf(in)
	}
	for _, tt := range []struct {
		why, accept, want string
		headers           int
	}{
		{"a client that leaves it to net/http", "", "plain text", 1},
		{"a client that undoes it by itself", "gzip", b.String(), 3},
	} {
		req := request(t, base+"/x", `{}`)
		if tt.accept != "" {
			req.Header.Set("Accept-Encoding", tt.accept)
		}
		resp, err := player(t, with("gzip", b.String()), cassette.Options{}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil || len(resp.Header) != tt.headers {
			t.Errorf("%s: %s%v, %v", tt.why, diff, err, resp.Header)
		}
	}
	_, err := player(t, with("zstd", "\x28\xb5\x2f\xfd"), cassette.Options{}).RoundTrip(request(t, base+"/x", `{}`))
	want := "cassettes/travel/umbrella/claude.yaml:1:1: interaction 1: the body is compressed with zstd, which retake does not read"
	if failure.Of(err) != failure.CassetteInvalid || err.Error() != want {
		t.Errorf("%v", err)
	}
}
