package harness_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/wire"
)

func TestCost(t *testing.T) {
	full := &harness.Price{Input: new(3.0), Output: new(15.0), CacheRead: new(0.3), CacheWrite: new(3.75)}
	tokens := func(input, output, read, written int64) wire.Usage {
		return wire.Usage{Input: &input, Output: &output, CacheRead: &read, CacheWrite: &written}
	}
	const million = 1_000_000
	for _, tc := range []struct {
		why   string
		price *harness.Price
		usage wire.Usage
		want  *float64
	}{
		{"input", full, tokens(million, 0, 0, 0), new(3.0)},
		{"output", full, tokens(0, million, 0, 0), new(15.0)},
		{"what was read from the cache", full, tokens(0, 0, million, 0), new(0.3)},
		{"what was written to the cache", full, tokens(0, 0, 0, million), new(3.75)},
		{"all of them together", full, tokens(million, 2*million, 10*million, 4*million), new(3.0 + 30 + 3 + 15)},
		{"nothing reported costs nothing", full, wire.Usage{}, new(0.0)},
		{"reasoning is a part of the output, paid once", full, wire.Usage{Output: new(int64(million)), Reasoning: new(int64(million))}, new(15.0)},
		{"no price list", nil, tokens(1, 1, 0, 0), nil},
		{"a figure without a price leaves the cost unknown", &harness.Price{Input: new(3.0), Output: new(15.0)}, tokens(1, 1, 1, 0), nil},
		{"unless there is none of it", &harness.Price{Input: new(3.0), Output: new(15.0)}, tokens(million, 0, 0, 0), new(3.0)},
	} {
		got := tc.price.Cost(tc.usage)
		if (got == nil) != (tc.want == nil) || got != nil && (*got-*tc.want > 1e-9 || *tc.want-*got > 1e-9) {
			t.Errorf("%s: %v, want %v", tc.why, show(got), show(tc.want))
		}
	}
}

func show(f *float64) any {
	if f == nil {
		return "unknown"
	}
	return *f
}

// Each step of a run begins where the one before ended and takes as long as it
// was recorded to.
func TestLatenciesAreTheRecordedOnes(t *testing.T) {
	r := newProject(t).exec("weather", func(*harness.Params) {})
	type span struct{ At, Latency time.Duration }
	var got []span
	for _, m := range r.Models {
		got = append(got, span{m.At, m.Latency})
	}
	for _, c := range r.Calls {
		got = append(got, span{c.At, c.Latency})
	}
	want := []span{{0, time.Second}, {1200 * time.Millisecond, time.Second}, {time.Second, 200 * time.Millisecond}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("model, model, tool (-want +got):\n%s", d)
	}
}

// What the provider reports of its cache is counted and paid, call by call.
func TestCachedTokensArePaidAtTheirOwnPrice(t *testing.T) {
	p := newProject(t)
	p.edit("cassettes/weather/m-1.yaml", `"usage":{"input_tokens":20,`, `"usage":{"input_tokens":20,"cache_creation_input_tokens":4000,`)
	p.edit("cassettes/weather/m-1.yaml", `"usage":{"input_tokens":30,`, `"usage":{"input_tokens":30,"cache_read_input_tokens":4000,`)
	r := p.exec("weather", func(p *harness.Params) {
		p.Price = &harness.Price{Input: new(3.0), Output: new(15.0), CacheRead: new(0.3), CacheWrite: new(3.75)}
	})
	if d := cmp.Diff(wire.Usage{Input: new(int64(50)), Output: new(int64(9)), CacheRead: new(int64(4000)), CacheWrite: new(int64(4000))}, r.Tokens); d != "" {
		t.Errorf("tokens (-want +got):\n%s", d)
	}
	const want = (50*3.0 + 9*15 + 4000*0.3 + 4000*3.75) / 1e6
	if r.Cost == nil || *r.Cost < want-1e-9 || *r.Cost > want+1e-9 {
		t.Errorf("cost %v, want %v", show(r.Cost), want)
	}
}

// A comparison takes two runs with one hash for replays of the same recordings.
func TestTheHashOfRecordingsCoversTheModels(t *testing.T) {
	p := newProject(t)
	for _, name := range []string{"hello", "weather"} {
		if h := p.exec(name, func(*harness.Params) {}).Hashes; h.Cassette == "" {
			t.Errorf("%s: no hash of its recordings: %+v", name, h)
		}
	}
}
