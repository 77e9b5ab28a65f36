package body_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/retake-harness/retake/harness/internal/body"
)

// closer notes that it was closed.
type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

func TestRead(t *testing.T) {
	broken := errors.New("broken")
	for _, tc := range []struct {
		why   string
		from  io.Reader
		says  int64 // Content-Length
		want  string
		wrong error
	}{
		{"as announced", strings.NewReader("hello"), 5, "hello", nil},
		{"not announced", strings.NewReader("hello"), -1, "hello", nil},
		{"a wrong word costs no memory and loses nothing", strings.NewReader("hello"), 1 << 60, "hello", nil},
		{"shorter than announced", strings.NewReader("hel"), 5, "hel", nil},
		{"longer than announced", strings.NewReader("hello, you"), 5, "hello, you", nil},
		{"it breaks off", io.MultiReader(strings.NewReader("hel"), iotest.ErrReader(broken)), 5, "hel", broken},
	} {
		c := &closer{Reader: tc.from}
		b, err := body.Read(&http.Request{Body: c, ContentLength: tc.says})
		if string(b) != tc.want || !errors.Is(err, tc.wrong) || !c.closed {
			t.Errorf("%s: %q, %v, closed %v; want %q, %v", tc.why, b, err, c.closed, tc.want, tc.wrong)
		}
	}
	for _, none := range []io.ReadCloser{nil, http.NoBody} {
		if b, err := body.Read(&http.Request{Body: none, ContentLength: 9}); err != nil || b != nil {
			t.Errorf("no body: %q, %v", b, err)
		}
	}
}

func TestABodyThatIsKnownIsNotCopied(t *testing.T) {
	text := []byte("hello")
	b, err := body.Read(&http.Request{Body: body.Of(text), ContentLength: 5})
	if err != nil || &b[0] != &text[0] {
		t.Errorf("%q, %v: want the same bytes", b, err)
	}
	if read, err := io.ReadAll(body.Of(text)); err != nil || string(read) != "hello" {
		t.Errorf("read as a stream: %q, %v", read, err)
	}
}
