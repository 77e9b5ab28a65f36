package live_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/wire"
)

// limited answers the first request of a host with a rate limit.
type limited struct {
	header, value string
	asked         map[string]int
}

func (l *limited) RoundTrip(req *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: req}
	if l.asked[req.URL.Host]++; l.asked[req.URL.Host] == 1 {
		resp.StatusCode = http.StatusTooManyRequests
		resp.Header.Set(l.header, l.value)
	}
	return resp, nil
}

// A rate limit holds for all that a session asks of the same host, and for no
// other.
func TestRateLimitHoldsForTheHost(t *testing.T) {
	for _, tc := range []struct {
		why, header, value string
		want               time.Duration
	}{
		{"seconds", "Retry-After", "7", 7 * time.Second},
		{"milliseconds go before", "Retry-After-Ms", "250", 250 * time.Millisecond},
		{"a part of a second", "Retry-After", "1.5", 1500 * time.Millisecond},
		{"too long is the agent's own affair", "Retry-After", "3600", time.Minute},
		{"far beyond any number", "Retry-After", "1e300", time.Minute},
		{"none", "X", "y", 0},
		{"nonsense", "Retry-After", "soon", 0},
		{"less than nothing", "Retry-After", "-5", 0},
		{"a time long ago", "Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT", 0},
	} {
		ctx := clock.Virtual(t.Context())
		session := live.NewSession(live.Cap{}, &limited{header: tc.header, value: tc.value, asked: map[string]int{}})
		session.SetTime(func() time.Duration { return clock.Now(ctx) })
		ask := func(host string) time.Duration {
			way, err := session.Transport(live.Target{API: wire.AnthropicMessages, Model: "m", BaseURL: "https://" + host})
			if err != nil {
				t.Fatal(err)
			}
			before := clock.Now(ctx)
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+host+"/v1/messages", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := way.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			return clock.Now(ctx) - before
		}
		if took := ask("a.example.com"); took != 0 {
			t.Errorf("%s: the first waited %v", tc.why, took)
		}
		if took := ask("b.example.com"); took != 0 {
			t.Errorf("%s: another host waited %v", tc.why, took)
		}
		if took := ask("a.example.com"); took != tc.want {
			t.Errorf("%s: the next waited %v, not %v", tc.why, took, tc.want)
		}
		if took := ask("a.example.com"); took != 0 {
			t.Errorf("%s: the one after it waited %v", tc.why, took)
		}
	}
}
