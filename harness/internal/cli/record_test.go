package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/internal/rerecord"
)

func TestConfirm(t *testing.T) {
	for _, tt := range []struct {
		why, typed string
		want       error
	}{
		{"yes", "y\n", nil},
		{"yes in full", " Yes \n", nil},
		{"no", "n\n", exitError(exitFail)},
		{"an empty line", "\n", exitError(exitFail)},
		{"the end of the input", "", exitError(exitFail)},
	} {
		var out bytes.Buffer
		sys := IO{Stdin: strings.NewReader(tt.typed), Stderr: &out, InTerminal: true, ErrTerminal: true, Context: t.Context()}
		err := confirm(sys, "to record", &rerecord.Plan{}, &rerecord.Options{Cap: live.Cap{Tokens: 1234, Cost: 5}}, false)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.why, err, tt.want)
		}
		if !strings.Contains(out.String(), "at most 1,234 tokens and $5.0000\ngo on? [y/N] ") {
			t.Errorf("%s: asked %q", tt.why, out.String())
		}
	}
}

func TestConfirmIsInterrupted(t *testing.T) {
	in, typed := io.Pipe()
	defer func() { _ = typed.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sys := IO{Stdin: in, Stderr: io.Discard, InTerminal: true, ErrTerminal: true, Context: ctx}
	if err := confirm(sys, "to record", &rerecord.Plan{}, &rerecord.Options{}, false); failure.Of(err) != failure.Interrupted {
		t.Errorf("%v", err)
	}
}
