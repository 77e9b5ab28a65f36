package wiretest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// neutral compares neutral values: nil and empty slices are the same.
var neutral = cmpopts.EquateEmpty()

// requestLaws: encoding and decoding a request in normal form gives it back,
// and what it means does not change on the way.
func requestLaws(c wire.Codec, s Shape) func(t *rapid.T) {
	gen := requests(s)
	return func(t *rapid.T) {
		r := gen.Draw(t, "request")
		body, err := c.EncodeRequest(nil, r)
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		got, err := c.DecodeRequest(c.Path(r.Model, r.Stream), body)
		if err != nil {
			t.Fatalf("decode %s: %v", body, err)
		}
		if diff := cmp.Diff(r, got, neutral); diff != "" {
			t.Fatalf("%s\nreads differently (-sent +read):\n%s", body, diff)
		}
		again, err := c.EncodeRequest([]byte("x"), got)
		if err != nil || string(again) != "x"+string(body) {
			t.Fatalf("encoded again: %s, %v\nwas: %s", again, err, body)
		}
		sent, read := string(wire.Normal(nil, c, r)), string(wire.Normal(nil, c, got))
		if !rawjson.Valid([]byte(sent)) {
			t.Fatalf("the meaning is not JSON: %s", sent)
		}
		if sent != read {
			t.Fatalf("the meaning changed:\n%s\n%s", sent, read)
		}
	}
}

func decodeRequest(t *testing.T, c wire.Codec, q Request) (string, *wire.Request) {
	t.Helper()
	path := q.Path
	if path == "" {
		path = c.Path("test-model", false)
	}
	r, err := c.DecodeRequest(path, []byte(q.Body))
	if err != nil {
		t.Fatalf("%s: decode %s: %v", q.Why, q.Body, err)
	}
	return path, r
}

// literalRequests: decode → encode → decode is the identity.
func literalRequests(t *testing.T, c wire.Codec, f Fixtures) {
	t.Helper()
	all := f.Requests
	for _, groups := range [][][]Request{f.Same, f.Different} {
		for _, g := range groups {
			all = append(slices.Clip(all), g...)
		}
	}
	for _, q := range all {
		path, r := decodeRequest(t, c, q)
		body, err := c.EncodeRequest(nil, r)
		if err != nil {
			t.Errorf("%s: encode: %v", q.Why, err)
			continue
		}
		again, err := c.DecodeRequest(path, body)
		if err != nil {
			t.Errorf("%s: decode %s: %v", q.Why, body, err)
			continue
		}
		if diff := cmp.Diff(r, again, neutral); diff != "" {
			t.Errorf("%s: %s\nencoded as %s\nreads differently (-first +again):\n%s", q.Why, q.Body, body, diff)
		}
	}
}

// meanings: equal Normal texts within the groups of Same, none in Different.
func meanings(t *testing.T, c wire.Codec, f Fixtures) {
	t.Helper()
	normal := func(q Request) string {
		_, r := decodeRequest(t, c, q)
		return string(wire.Normal(nil, c, r))
	}
	for _, group := range f.Same {
		want := normal(group[0])
		for _, q := range group[1:] {
			if got := normal(q); got != want {
				t.Errorf("%s: %s and %s should mean the same:\n%s\n%s", q.Why, group[0].Body, q.Body, want, got)
			}
		}
	}
	for _, group := range f.Different {
		seen := map[string]string{}
		for _, q := range group {
			n := normal(q)
			if other, ok := seen[n]; ok {
				t.Errorf("%s: %s and %s should differ: %s", q.Why, other, q.Body, n)
			}
			seen[n] = q.Body
		}
	}
}
