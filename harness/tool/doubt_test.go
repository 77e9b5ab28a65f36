package tool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/tool"
)

// Nobody knows what became of a write that broke off: it is not said to have
// failed, and only a key makes it one to be tried again.
func TestAWriteInDoubt(t *testing.T) {
	key := &tool.Key{Field: "key", From: tool.KeyFromHost}
	fails := func(e tool.Error) func(context.Context, tool.Call) (tool.Result, error) {
		return func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Err: &e}, nil }
	}
	lost := fails(tool.Error{Code: tool.CodeTimeout, Message: "the payment failed", Retryable: true, Class: failure.ToolTimeout, Detail: "read tcp"})
	broke := fails(tool.Error{Code: tool.CodeUpstream, Message: "the payment failed", Retryable: true, Class: failure.ToolUnavailable})
	down := fails(tool.Error{Code: tool.CodeUnavailable, Message: "closed on Sundays", Retryable: true, Class: failure.ToolUnavailable})
	cancelled := func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, context.Canceled }
	for _, tc := range []struct {
		why    string
		effect tool.Effect
		key    *tool.Key
		run    func(context.Context, tool.Call) (tool.Result, error)
		told   string // the error's message
		retry  bool
		detail string
	}{
		{"without a key it is not to be repeated", tool.EffectWrite, nil, lost, "the tool did not answer in time; it is not known whether the call took effect, so check before you repeat it", false, "the payment failed: read tcp"},
		{"with one it is", tool.EffectWrite, key, lost, "the tool did not answer in time; it is not known whether the call took effect, and repeating it with the same arguments is safe", true, "the payment failed: read tcp"},
		{"a tool that says nothing counts as a write", tool.EffectUndeclared, nil, broke, "the tool broke off; it is not known whether the call took effect, so check before you repeat it", false, "the payment failed"},
		{"a key does not make repeatable what its tool says is not", tool.EffectWrite, key, cancelled, "the call was cancelled; it is not known whether the call took effect, so check before you repeat it", false, "the call was cancelled: context canceled"},
		{"a read has no effect to be in doubt of", tool.EffectRead, nil, lost, "the payment failed", true, "read tcp"},
		{"a write that was turned away has had none", tool.EffectWrite, nil, down, "closed on Sundays", true, ""},
	} {
		b := &bench{spec: tool.Spec{Decl: tool.Decl{Effect: tc.effect, Key: tc.key}}}
		ans, attempts, err := b.do(t, virtual(t), `{}`, tc.run)
		if err != nil {
			t.Fatal(err)
		}
		want := tool.ErrorText(&tool.Error{Code: codeIn(ans.Text), Message: tc.told, Retryable: tc.retry})
		if ans.Text != want || ans.Detail != tc.detail || attempts[0].Retryable != tc.retry {
			t.Errorf("%s: told %s\nwant %s\nthe log has %q, retryable %v", tc.why, ans.Text, want, ans.Detail, attempts[0].Retryable)
		}
	}
}

func codeIn(text string) string {
	_, rest, _ := strings.Cut(text, `"code":"`)
	code, _, _ := strings.Cut(rest, `"`)
	return code
}

// A call that its own client gave up is the tool's failure; one that the run gave
// up ends the run.
func TestACancelledCall(t *testing.T) {
	gone, cancel := context.WithCancel(virtual(t))
	cancel()
	for _, tc := range []struct {
		why  string
		ctx  context.Context
		ends bool
	}{{"by its client", virtual(t), false}, {"by the run", gone, true}} {
		b := &bench{spec: tool.Spec{Decl: tool.Decl{Effect: tool.EffectRead}}}
		ans, _, err := b.do(t, tc.ctx, `{}`, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, context.Canceled })
		if errors.Is(err, context.Canceled) != tc.ends || !tc.ends && codeIn(ans.Text) != tool.CodeCancelled {
			t.Errorf("%s: told %s, %v", tc.why, ans.Text, err)
		}
	}
}

// Whatever is cut, it is a beginning of the text and a mark that counts the rest,
// in whole characters, and not longer than allowed.
func TestTheCutIsABeginning(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text, limit := rapid.String().Draw(rt, "text"), rapid.IntRange(60, 200).Draw(rt, "limit")
		b := &bench{spec: tool.Spec{Decl: tool.Decl{MaxResult: limit}}}
		ans, _, err := b.do(t, clock.Virtual(t.Context()), `{}`, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: text}, nil })
		if err != nil || len(ans.Text) > limit || !utf8.ValidString(ans.Text) {
			rt.Fatalf("%d bytes of at most %d: %q, %v", len(ans.Text), limit, ans.Text, err)
		}
		shown, mark, cut := strings.Cut(ans.Text, "\n[cut: ")
		if want := fmt.Sprintf("%d of %d bytes are missing]", len(text)-len(shown), len(text)); cut && mark != want || !strings.HasPrefix(text, shown) || !cut && shown != text {
			rt.Fatalf("of %q is shown %q", text, ans.Text)
		}
	})
}

// What the model is shown of a result has a limit, and the cut can be seen.
func TestLargeResults(t *testing.T) {
	for _, tc := range []struct {
		why   string
		limit int
		text  string
		want  string // "" is unchanged
	}{
		{"to the byte", 100, strings.Repeat("x", 100), ""},
		{"one over", 100, strings.Repeat("x", 101), strings.Repeat("x", 64) + "\n[cut: 37 of 101 bytes are missing]"},
		{"between two characters", 100, "a" + strings.Repeat("ä", 60), "a" + strings.Repeat("ä", 31) + "\n[cut: 58 of 121 bytes are missing]"},
		{"without a limit of its own", 0, strings.Repeat("x", tool.DefaultMaxResult), ""},
	} {
		b := &bench{spec: tool.Spec{Decl: tool.Decl{MaxResult: tc.limit}}}
		ans, _, err := b.do(t, virtual(t), `{}`, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: tc.text}, nil })
		want := tc.want
		if want == "" {
			want = tc.text
		}
		if err != nil || ans.IsError || ans.Text != want || !utf8.ValidString(ans.Text) || len(ans.Text) > b.spec.Decl.Limit() {
			t.Errorf("%s: told %q (%d bytes), want %q", tc.why, ans.Text, len(ans.Text), want)
		}
	}
	huge := strings.Repeat("x", tool.DefaultMaxResult+1)
	b := &bench{}
	ans, attempts, _ := b.do(t, virtual(t), `{}`, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: huge}, nil })
	if len(ans.Text) > tool.DefaultMaxResult || !strings.HasSuffix(ans.Text, " of 262145 bytes are missing]") || attempts[0].Outcome != journal.OK {
		t.Errorf("one over the default: %d bytes that end in %q", len(ans.Text), ans.Text[len(ans.Text)-60:])
	}
	ans, _, _ = b.do(t, virtual(t), `{}`, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Err: &tool.Error{Code: "X", Message: huge}}, nil
	})
	if len(ans.Text) > 4200 || !strings.Contains(ans.Text, "bytes are missing]") {
		t.Errorf("an error's message: %d bytes", len(ans.Text))
	}
}
