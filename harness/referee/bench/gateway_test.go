package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/gateway"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire"
)

// BenchmarkGateway is what a foreign agent's requests cost in replay: each of the
// stories' 768 once, over connections that stay, to a bare server that has the same
// answers in a map and to the gateway of a run, in turns. The whole path of a run is
// in it: gateway, tap, the matching of the recording.
//
// of-bare is the median of the pairs' ratios: 1 is as quick as the bare server. What
// the run does before and after its agent asks is not in it.
func BenchmarkGateway(b *testing.B) {
	asked := questions(b)
	for _, connections := range []int{1, 8} {
		b.Run(fmt.Sprintf("connections=%d", connections), func(b *testing.B) {
			bare := newBareServer(b, asked)
			p := newReplayed(b, asked, connections)
			p.round(b) // the first is not timed
			var ratios, rates []float64
			for b.Loop() {
				watch := clock.Stopwatch()
				ask(b, bare, connections, asked)
				least := watch()
				p.round(b)
				ratios = append(ratios, float64(least)/float64(p.asking))
				rates = append(rates, float64(len(asked))/p.asking.Seconds())
			}
			b.ReportMetric(median(ratios), "of-bare")
			b.ReportMetric(median(rates), "requests/s")
		})
	}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// questions are what the stories ask, and what is answered.
func questions(tb testing.TB) []exchange {
	tb.Helper()
	var out []exchange
	for _, s := range stories(distinct) {
		api := &canned{answers: s.answers}
		_, err := bareLoop(s.prompt, func(body []byte) ([]byte, error) {
			req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, "https://api.anthropic.com/v1/messages", bytes.NewReader(body))
			if err != nil {
				return nil, err
			}
			req.Header = http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}}
			resp, err := api.RoundTrip(req)
			if err != nil {
				return nil, err
			}
			return io.ReadAll(resp.Body)
		})
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, api.asked...)
	}
	return out
}

// newBareServer is the least that can answer: the request's bytes find the answer.
func newBareServer(b *testing.B, asked []exchange) (address string) {
	b.Helper()
	answers := map[string]exchange{}
	for _, x := range asked {
		answers[string(x.body)] = x
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		x, ok := answers[string(text)]
		if err != nil || !ok {
			http.Error(w, "unknown", http.StatusBadRequest)
			return
		}
		maps.Copy(w.Header(), x.response.Header)
		_, _ = w.Write(x.answer)
	}))
	b.Cleanup(s.Close)
	return s.URL
}

// ask asks all over some connections, and reads each answer to its end.
func ask(tb testing.TB, address string, connections int, asked []exchange) {
	tb.Helper()
	tr := &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr}
	var wg sync.WaitGroup
	for part := range slices.Chunk(asked, (len(asked)+connections-1)/connections) {
		wg.Go(func() {
			for _, x := range part {
				if err := one(tb.Context(), client, address, &x); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func one(ctx context.Context, client *http.Client, address string, x *exchange) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/v1/messages", bytes.NewReader(x.body))
	if err != nil {
		return err
	}
	req.Header = x.request.Header
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && !bytes.Equal(text, x.answer) {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, text)
	}
	return err
}

// replayed is a run whose agent asks from outside.
type replayed struct {
	tb          testing.TB
	asked       []exchange
	connections int
	params      harness.Params
	asking      time.Duration // of the newest run: for all requests
}

func newReplayed(b *testing.B, asked []exchange, connections int) *replayed {
	b.Helper()
	r := &replayed{tb: b, asked: asked, connections: connections}
	made := make([]cassette.Interaction, len(asked))
	for i, x := range asked {
		made[i] = interaction(x)
	}
	path := filepath.Join(b.TempDir(), "all.yaml")
	new(project).save(b, path, made)
	r.params = harness.Params{
		Scenario: &scenario.Scenario{Name: "all", File: path, Turns: []scenario.Turn{{}}, Agent: &scenario.Agent{}},
		Model:    model, API: wire.AnthropicMessages, Cassette: path, Clock: clock.ModeReal, Agent: r,
		Recordings: &harness.Recordings{}, ContractOnly: true,
	}
	return r
}

// round is one run, from the opening of the cassette to the verdict.
func (r *replayed) round(tb testing.TB) {
	tb.Helper()
	result := harness.Exec(tb.Context(), r.params)
	if len(result.Models) != len(r.asked) || result.Models[len(r.asked)-1].Response == nil {
		tb.Fatalf("%d attempts: %s", len(result.Models), report.Explain(result, 0))
	}
}

// Run implements harness.Agent.
func (r *replayed) Run(ctx context.Context, env *harness.Env) (harness.Outcome, error) {
	s, err := gateway.Start(ctx, gateway.Options{Next: env.HTTP.Transport})
	if err != nil {
		return harness.Outcome{}, err
	}
	defer s.Close()
	watch := clock.Stopwatch()
	ask(r.tb, s.URL(), r.connections, r.asked)
	r.asking = watch()
	return harness.Outcome{}, nil
}
