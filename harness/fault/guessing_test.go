package fault_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/schema"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// talk is a whole task: an agent that runs the calls which the schema allows, and
// a model that answers with recordings and knows which request each belongs to.
type talk struct {
	t      *testing.T
	codec  wire.Codec
	stream bool
	turns  []*wire.Response // recorded
	asked  []string         // the meaning of the requests that reached the model
	input  *schema.Schema

	ran      []string // arguments that the tool got
	rejected []string // and those that were refused
	tries    []int    // refused turns before each turn that was not
	history  []wire.Message
}

func (k *talk) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	q, err := k.codec.DecodeRequest(req.URL.String(), body)
	if err != nil {
		k.t.Fatalf("the model was asked %s: %v", body, err)
	}
	if int64(len(body)) != req.ContentLength {
		k.t.Errorf("a body of %d bytes is announced as one of %d", len(body), req.ContentLength)
	}
	k.asked = append(k.asked, string(wire.Normal(nil, k.codec, q)))
	if len(k.asked) > len(k.turns) {
		return nil, fmt.Errorf("request %d has no recording: %s", len(k.asked), body)
	}
	text, err := k.codec.EncodeResponse(nil, k.turns[len(k.asked)-1], k.stream)
	kind := "application/json"
	if k.stream {
		kind = "text/event-stream"
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Request: req,
		ContentLength: int64(len(text)), Body: io.NopCloser(bytes.NewReader(text)),
	}, err
}

// run is the agent's loop.
func (k *talk) run(inj *fault.Injector) string {
	k.t.Helper()
	client := http.Client{Transport: k}
	if inj != nil {
		client.Transport = inj.Model(k)
	}
	ctx := clock.Virtual(k.t.Context())
	k.history = []wire.Message{{Role: wire.RoleUser, Blocks: []wire.Block{{Kind: wire.KindText, Text: "How is the weather?"}}}}
	refused := 0
	for range 50 {
		r := k.call(ctx, &client)
		k.history = append(k.history, r.Message)
		if len(r.Calls()) == 0 {
			return r.Text()
		}
		results, bad := k.results(r.Calls())
		k.history = append(k.history, wire.Message{Role: wire.RoleUser, Blocks: results})
		if bad {
			refused++
			continue
		}
		k.tries, refused = append(k.tries, refused), 0
	}
	k.t.Fatal("the talk has no end")
	return ""
}

func (k *talk) call(ctx context.Context, client *http.Client) *wire.Response {
	k.t.Helper()
	body, err := k.codec.EncodeRequest(nil, &wire.Request{Model: "m", Stream: k.stream, MaxTokens: 100, Messages: k.history})
	if err != nil {
		k.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.example"+k.codec.Path("m", k.stream), bytes.NewReader(body))
	if err != nil {
		k.t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		k.t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		k.t.Fatal(err)
	}
	r, err := k.codec.DecodeResponse(resp.StatusCode, resp.Header.Get("Content-Type"), text)
	if err != nil || r.Err != nil || !r.Complete {
		k.t.Fatalf("got %s: %+v, %v", text, r, err)
	}
	return r
}

func (k *talk) results(calls []wire.Block) (results []wire.Block, refused bool) {
	for _, c := range calls {
		b := wire.Block{Kind: wire.KindToolResult, ID: c.ID}
		if k.codec.API() == wire.GeminiGenerate {
			b.Name = c.Name
		}
		text := `{"sky":"blue"}`
		if bad := k.input.Check(c.Args); c.Name == "get_weather" && len(bad) > 0 {
			text, refused = bad[0].String(), true
			b.IsError = k.codec.API() == wire.AnthropicMessages
			k.rejected = append(k.rejected, string(c.Args))
		} else {
			k.ran = append(k.ran, string(c.Args))
		}
		b.Result = []wire.Block{{Kind: wire.KindText, Text: text}}
		results = append(results, b)
	}
	return results, refused
}

// recorded are three turns with calls, one of them of two tools at once, and an
// end.
func recorded(ids bool) []*wire.Response {
	id := func(n int) string {
		if !ids {
			return ""
		}
		return fmt.Sprintf("call_%d", n)
	}
	return []*wire.Response{
		said("Let me look.", called(id(1), "get_weather", `{"city":"Paris","days":3}`)),
		said("", called(id(2), "book", `{"room":7}`), called(id(3), "get_weather", `{"city":"Rome"}`)),
		said("", called(id(4), "get_weather", `{"city":"Berlin","days":1}`)),
		said("Blue everywhere."),
	}
}

// TestGuessing runs the task with malformed tries: the recordings are found as if
// there had been none, nothing runs twice, and the agent has seen the tries.
func TestGuessing(t *testing.T) {
	for _, api := range apis {
		for _, stream := range []bool{false, true} {
			for _, ids := range []bool{true, false} {
				if !ids && api != wire.GeminiGenerate {
					continue
				}
				t.Run(fmt.Sprintf("%s/stream %v/ids %v", api, stream, ids), func(t *testing.T) { guess(t, api, stream, ids) })
			}
		}
	}
}

func newTalk(t *testing.T, input *schema.Schema, api wire.API, stream, ids bool) *talk {
	t.Helper()
	c, _ := codec.For(api)
	return &talk{t: t, codec: c, stream: stream, turns: recorded(ids), input: input}
}

func guess(t *testing.T, api wire.API, stream, ids bool) {
	t.Helper()
	input := weatherInput(t)
	plain := newTalk(t, input, api, stream, ids)
	plain.run(nil)
	const seeds = 24
	struck, twice := map[int]int{}, 0
	for seed := range uint64(seeds) {
		k := newTalk(t, input, api, stream, ids)
		inj, err := fault.New([]fault.Spec{{Name: "model.guessing"}}, fault.Options{Seed: seed, Clock: clock.ModeVirtual})
		if err != nil {
			t.Fatal(err)
		}
		inj.Tool(&tool.Spec{Decl: tool.Decl{Name: "get_weather"}, Input: k.input})
		inj.Tool(&tool.Spec{Decl: tool.Decl{Name: "book"}})
		if end := k.run(inj); end != "Blue everywhere." {
			t.Errorf("seed %d: the end is %q", seed, end)
		}
		if diff := cmp.Diff(plain.asked, k.asked); diff != "" {
			t.Fatalf("seed %d: the model was asked something else:\n%s", seed, diff)
		}
		if diff := cmp.Diff(plain.ran, k.ran); diff != "" {
			t.Errorf("seed %d: other calls ran:\n%s", seed, diff)
		}
		for n, tries := range k.tries {
			if tries > 0 {
				struck[n]++
			}
			if tries == 2 {
				twice++
			}
			if tries > 2 {
				t.Errorf("seed %d: %d malformed tries for turn %d", seed, tries, n+1)
			}
		}
		if fired := inj.Fired()[0]; fired.Times == 0 || len(k.rejected) < fired.Times || inj.Seen() {
			t.Errorf("seed %d: fired %d times, %d malformed tries, seen by the model %v", seed, fired.Times, len(k.rejected), inj.Seen())
		}
	}
	if struck[0] != seeds {
		t.Errorf("the first turn that can be struck always is; it was %d times of %d", struck[0], seeds)
	}
	for n := 1; n < 3; n++ {
		if struck[n] < 2 || struck[n] > 14 {
			t.Errorf("turn %d was struck %d times of %d, want about 7", n+1, struck[n], seeds)
		}
	}
	if twice == 0 {
		t.Error("no turn took three tries")
	}
}

// The tries of a turn differ, each has ids of its own, and each is broken in
// another way.
func TestTriesDiffer(t *testing.T) {
	input := weatherInput(t)
	for seed := range uint64(20) {
		k := newTalk(t, input, wire.AnthropicMessages, false, true)
		inj, err := fault.New([]fault.Spec{{Name: "model.guessing", Chance: 1}}, fault.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		inj.Tool(&tool.Spec{Decl: tool.Decl{Name: "get_weather"}, Input: k.input})
		k.run(inj)
		if n := inj.Fired()[0].Times; n != 3 {
			t.Errorf("seed %d: struck %d turns of 3", seed, n)
		}
		seen := map[string]bool{}
		for _, m := range k.history {
			for _, b := range m.Blocks {
				if b.Kind == wire.KindToolCall {
					if key := b.Name + string(b.Args); seen[b.ID] || seen[key] {
						t.Errorf("seed %d: %s %s is there twice", seed, b.ID, key)
					} else {
						seen[b.ID], seen[key] = true, true
					}
				}
			}
		}
	}
}

// Where no schema refuses anything there is nothing to guess.
func TestNothingToGuess(t *testing.T) {
	k := newTalk(t, weatherInput(t), wire.OpenAIChat, false, true)
	inj, err := fault.New([]fault.Spec{{Name: "model.guessing"}}, fault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k.run(inj)
	if f := inj.Fired()[0]; f.Times != 0 || f.Why == "" {
		t.Errorf("fired %d times, why %q", f.Times, f.Why)
	}
}
