package live

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/clock"
)

// mostHold is the longest that one answer keeps the others of a session waiting: an
// agent that is asked to wait longer gives up, and that is its own affair.
const mostHold = time.Minute

// hold keeps back all that the session asks of a host that has answered with a rate
// limit, as long as the answer says. What is under way already is answered.
func (s *Session) hold(host string, resp *http.Response) {
	if resp.StatusCode != http.StatusTooManyRequests {
		return
	}
	until := s.since() + min(retryAfter(resp.Header, clock.Wallclock()), mostHold)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds == nil {
		s.holds = map[string]time.Duration{}
	}
	s.holds[host] = max(s.holds[host], until)
}

// retryAfter is the wait that an answer asks for: a number of seconds, or a time.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, float64(mostHold.Milliseconds())) * float64(time.Millisecond))
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds, mostHold.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// wait waits until the host may be asked. A longer hold may come while it waits.
func (s *Session) wait(ctx context.Context, host string) error {
	for {
		s.mu.Lock()
		left := s.holds[host] - s.since()
		s.mu.Unlock()
		if left <= 0 {
			return nil
		}
		if err := clock.Sleep(ctx, left); err != nil {
			return err
		}
	}
}
