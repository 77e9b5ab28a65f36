package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

func TestAsk(t *testing.T) {
	var out bytes.Buffer
	a := newAsker(IO{Stdin: strings.NewReader("y\nYes\nn\n\nnonsense\n"), Stderr: &out, InTerminal: true, ErrTerminal: true}, 1)
	c := tool.Call{Tool: "commit_order", Args: jsontext.Value(`{"id":1}`)}
	for i, want := range []bool{true, true, false, false, false, false} { // the last at the end of the input
		got, err := a.ask(t.Context(), c)
		if err != nil || got != want {
			t.Errorf("answer %d: %v, %v", i+1, got, err)
		}
	}
	if !strings.HasPrefix(out.String(), "the agent wants to call commit_order {\"id\":1}\napprove? [y/N] ") {
		t.Errorf("asked %q", out.String())
	}
}

func TestAskIsInterrupted(t *testing.T) {
	in, typed := io.Pipe()
	defer func() { _ = typed.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := newAsker(IO{Stdin: in, Stderr: io.Discard, InTerminal: true, ErrTerminal: true}, 1)
	if ok, err := a.ask(ctx, tool.Call{}); ok || failure.Of(err) != failure.Interrupted {
		t.Errorf("%v, %v", ok, err)
	}
}

func TestNobodyToAsk(t *testing.T) {
	for why, a := range map[string]*asker{
		"no terminal to type at":    newAsker(IO{ErrTerminal: true}, 1),
		"no terminal to read at":    newAsker(IO{InTerminal: true}, 1),
		"several scenarios at once": newAsker(IO{InTerminal: true, ErrTerminal: true}, 2),
	} {
		if a != nil {
			t.Errorf("%s: somebody is asked", why)
		}
	}
}
