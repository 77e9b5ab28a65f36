package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/wire"
)

// call makes one model call: the request, and again while the error is one that
// may pass. It is the only place in the loop that retries.
func (r *run) call(ctx context.Context) (*wire.Response, error) {
	body, err := r.codec.EncodeRequest(r.buf[:0], r.req)
	if err != nil {
		return nil, failure.Errorf(failure.Malformed, "the conversation cannot be sent on: %w", err)
	}
	r.buf = body
	policy := r.env.Retry
	backoff := min(policy.Backoff, policy.MaxBackoff)
	for n := 1; ; n++ {
		resp, wait, err := r.attempt(ctx, body)
		if err == nil || n >= policy.Attempts || !failure.About(failure.Of(err)).Retryable {
			return resp, err
		}
		if wait > policy.RetryAfterCap {
			return nil, failure.Errorf(failure.RateLimited, "the provider asks to wait %v, more than the policy allows: %w", wait, err)
		}
		if err := clock.Sleep(ctx, max(wait, backoff)); err != nil {
			return nil, err
		}
		backoff = min(backoff*2, policy.MaxBackoff)
	}
}

// attempt is one HTTP request. wait is what the answer asks to wait before the
// next one.
func (r *run) attempt(ctx context.Context, body []byte) (resp *wire.Response, wait time.Duration, err error) {
	ctx, cancel := clock.WithTimeout(ctx, r.env.Retry.Timeout)
	defer cancel()
	req, err := r.httpRequest(ctx, body)
	if err != nil {
		return nil, 0, err
	}
	answer, err := r.env.HTTP.Do(req)
	if err != nil {
		return nil, 0, failure.Classify(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, 0, failure.Classify(err)
	}
	wait = wire.RetryAfter(answer.Header)
	resp, err = r.codec.DecodeResponse(answer.StatusCode, answer.Header.Get("Content-Type"), text)
	if err != nil {
		return nil, wait, err
	}
	if resp.Err != nil {
		return nil, wait, failure.Wrap(resp.Err.Class(), resp.Err)
	}
	return resp, wait, nil
}

func (r *run) httpRequest(ctx context.Context, body []byte) (*http.Request, error) {
	if r.url == "" {
		r.url = wire.Endpoint(r.env.BaseURL, r.codec.Path(r.env.Model, r.req.Stream))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return nil, failure.Errorf(failure.ScenarioInvalid, "model %s: base URL %q: %w", r.env.Model, r.env.BaseURL, err)
	}
	wire.SetHeaders(r.env.API, req.Header)
	return req, nil
}

// endOf turns an error of a model call into an outcome, or passes on one that
// is the harness's own.
func (r *run) endOf(ctx context.Context, err error) (harness.Outcome, error) {
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return r.end(failure.TimeBudget, wire.StopNone, "the run's time is up"), nil
	}
	class := failure.Of(err)
	switch class {
	case failure.CassetteMiss, failure.CassetteInvalid, failure.Interrupted, failure.Internal, failure.World, failure.ScenarioInvalid:
		return harness.Outcome{Iterations: r.iterations}, err
	default:
		return r.end(class, wire.StopNone, err.Error()), nil
	}
}
