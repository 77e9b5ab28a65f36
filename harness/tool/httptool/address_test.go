package httptool

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/tool"
)

// Whatever an argument is, the request goes to the host, and to the place in its
// path, that the address says, and the argument is there as it was.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"o-1", "", ".", "..", "a/../b", "?x=1&y", "#", "%2e%2e", "@evil.example", "\\..\\", "ü \x00\r\n", "//evil.example/"} {
		f.Add(seed, seed)
	}
	x, err := New(Endpoint{Method: http.MethodGet, URL: "https://shop.example/orders/{id}/lines?of={who}"}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, who string) {
		args := []byte(`{"id":`)
		args, err := jsontext.AppendQuote(args, id)
		if err != nil {
			t.Skip("no UTF-8, so no JSON")
		}
		args, err = jsontext.AppendQuote(append(args, `,"who":`...), who)
		if err != nil {
			t.Skip("no UTF-8, so no JSON")
		}
		req, bad := x.request(t.Context(), &tool.Call{Args: append(args, '}')})
		if bad != nil {
			if id != "" && id != "." && id != ".." {
				t.Errorf("%q is refused: %v", id, bad)
			}
			return
		}
		segments := strings.Split(req.URL.EscapedPath(), "/")
		if req.URL.Host != "shop.example" || len(segments) != 4 || segments[1] != "orders" || segments[3] != "lines" {
			t.Fatalf("%q leads to %s", id, req.URL)
		}
		if got, err := url.PathUnescape(segments[2]); err != nil || got != id {
			t.Errorf("%q arrives as %q, %v", id, got, err)
		}
		if q := req.URL.Query(); len(q) != 1 || q.Get("of") != who {
			t.Errorf("%q arrives as %v", who, q)
		}
	})
}
