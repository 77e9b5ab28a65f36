package codec_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-harness/retake/harness/internal/corpus"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// unread are the files with an answer that nobody can read, and why.
var unread = map[string]string{
	"files/Arize-ai+openinference/python/instrumentation/openinference-instrumentation-agno/tests/openinference/instrumentation/agno/fixtures/agent_run_reasoning.yaml": "this test does not unpack brotli",
	"files/braintrustdata+braintrust-sdk-python/py/src/braintrust/wrappers/cassettes/test_litellm_aresponses_streaming_async.yaml":                                      "the recorder lost the body: it is empty",
}

// uncounted are the files that report thinking tokens in a member which the facts
// do not count yet (output_tokens_details of Anthropic).
var uncounted = map[string]bool{
	"files/anthropics+anthropic-sdk-python/tests/fixtures/fable-fallback/stream-a-refusal.sse": true,
}

// TestRecordings holds the codecs against other people's recorded traffic, whose
// facts were counted independently.
func TestRecordings(t *testing.T) {
	all := corpus.Open(t, os.Getenv)
	files, calls, tools := 0, 0, 0
	for _, f := range all.Files {
		known := slices.ContainsFunc(f.Families, func(family string) bool { _, ok := codec.For(wire.API(family)); return ok })
		if !known || !readable(&f) {
			continue
		}
		read := decoded
		if bareFormats[f.Format] {
			read = bare
		}
		got := read(t, all, &f)
		if got == nil {
			continue
		}
		want := wanted(&f)
		files++
		if unread[f.Path] != "" {
			want = want[:len(got)] // the last one is missing
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d model calls, the facts say %d", f.Path, len(got), len(want))
			continue
		}
		for i := range want {
			calls++
			tools += len(want[i].Tools)
			compare(t, f.Path, i, want[i], got[i])
		}
	}
	t.Logf("%d files, %d calls, %d tool calls", files, calls, tools)
}

func compare(t *testing.T, file string, i int, want, got corpus.Call) {
	t.Helper()
	hashed(want.Tools, got.Tools)
	if uncounted[file] {
		want.Reasoning = got.Reasoning
	}
	if diff := cmp.Diff(spelled(want), spelled(got), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: call %d (-facts +decoded):\n%s", file, i, diff)
	}
}

// failed stands for any error.
const failed = "failed"

// wanted are the facts about the calls of the APIs that there are codecs for.
func wanted(f *corpus.File) []corpus.Call {
	return slices.DeleteFunc(slices.Clone(f.Calls), func(c corpus.Call) bool {
		_, ok := codec.For(wire.API(c.Family))
		return !ok
	})
}

// hashed drops long arguments, of which the facts have a hash of another spelling.
func hashed(want, got []corpus.Tool) {
	for i := range want {
		if strings.HasPrefix(want[i].Args, "sha256:") && i < len(got) {
			got[i].Args = want[i].Args
		}
	}
}

// spelled brings a call into the form in which both sides are equal.
func spelled(c corpus.Call) corpus.Call {
	c.Status, c.TextChars, c.Results = 0, 0, 0 // not what a codec tells
	if c.Error != nil {
		c.Error = new(failed) // its words are inspect's affair
	}
	c.Tools = slices.Clone(c.Tools)
	for i := range c.Tools {
		t := &c.Tools[i]
		if canonical, err := jsondoc.Canonical(nil, []byte(t.Args)); err == nil {
			t.Args = string(canonical)
		}
	}
	return c
}

// decoded reads a file's model calls; every request is written and read again.
func decoded(t *testing.T, all *corpus.Corpus, f *corpus.File) []corpus.Call {
	t.Helper()
	file := f.Path
	out := []corpus.Call{}
	recorded := exchanges(t, all.Join(f))
	if recorded == nil {
		return nil
	}
	for _, e := range recorded {
		api, ok := codec.Detect(e.method, e.url, e.request)
		if !ok {
			continue
		}
		c, _ := codec.For(api)
		q := request(t, c, file, e)
		r, err := c.DecodeResponse(e.status, e.contentType, e.response)
		if reason := unread[file]; err != nil && reason != "" {
			t.Logf("%s: a call is left out: %s", file, reason)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		again(t, c, file, r)
		one := told(api, r)
		if one.Model == nil {
			one.Model = text(q.Model) // the facts do so too
		}
		out = append(out, one)
	}
	return out
}

// bare reads a file that is the body of an answer.
func bare(t *testing.T, all *corpus.Corpus, f *corpus.File) []corpus.Call {
	t.Helper()
	body, err := os.ReadFile(all.Join(f))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := codec.For(wire.API(f.Families[0]))
	r, err := c.DecodeResponse(200, "", body)
	if err != nil {
		t.Errorf("%s: %v", f.Path, err)
		return nil
	}
	again(t, c, f.Path, r)
	return []corpus.Call{told(c.API(), r)}
}

// again: an answer without defects means the same when it is written in either
// form and read back. Where a member stands that no field holds may differ.
func again(t *testing.T, c wire.Codec, file string, r *wire.Response) {
	t.Helper()
	if len(r.Problems) > 0 || r.Err != nil {
		return
	}
	for _, stream := range []bool{false, true} {
		body, err := c.EncodeResponse(nil, r, stream)
		if err != nil {
			t.Errorf("%s: encode (stream %v): %v", file, stream, err)
			continue
		}
		back, err := c.DecodeResponse(200, "", body)
		if err != nil {
			t.Errorf("%s: decode (stream %v) %s: %v", file, stream, body, err)
			continue
		}
		back.Streamed, back.Extra = r.Streamed, r.Extra
		if reflect.DeepEqual(r, back) {
			continue // a diff over an image takes seconds
		}
		if diff := cmp.Diff(r, back, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: an answer (stream %v) reads differently when written again:\n%s", file, stream, diff)
		}
	}
}

// request: a recorded request keeps its meaning on the way through the codec.
func request(t *testing.T, c wire.Codec, file string, e exchange) *wire.Request {
	t.Helper()
	path := e.url
	q, err := c.DecodeRequest(path, e.request)
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return &wire.Request{}
	}
	body, err := c.EncodeRequest(nil, q)
	if err != nil {
		t.Errorf("%s: encode: %v", file, err)
		return q
	}
	again, err := c.DecodeRequest(path, body)
	if err != nil {
		t.Errorf("%s: decode %s: %v", file, body, err)
		return q
	}
	if diff := cmp.Diff(q, again, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: a request reads differently when written again:\n%s", file, diff)
	}
	return q
}
