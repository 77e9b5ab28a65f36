package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/gateway"
)

func serveGateway(b *testing.B, answer roundTrip) string {
	b.Helper()
	s, err := gateway.Start(b.Context(), gateway.Options{Next: answer})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s.URL()
}

// serveBare is the least that a server of net/http does.
func serveBare(b *testing.B, text string) string {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}))
	b.Cleanup(s.Close)
	return s.URL
}

// ask asks from several clients at once.
func ask(b *testing.B, url string) {
	b.Helper()
	body := `{"model":"m","max_tokens":64,"messages":[{"role":"user","content":"` + strings.Repeat("y", 3000) + `"}]}`
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	defer tr.CloseIdleConnections()
	c := &http.Client{Transport: tr}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			resp, err := c.Post(url+"/v1/messages", "application/json", strings.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	})
}
