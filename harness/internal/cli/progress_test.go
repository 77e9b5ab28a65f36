package cli

import (
	"bytes"
	"strings"
	"testing"
)

// The bar is drawn on a terminal, once for each hundredth, and taken away.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(IO{Stderr: &out, ErrTerminal: true})
	for n := range 1000 {
		p.show(n+1, 1000)
	}
	p.clear()
	said := out.String()
	if n := strings.Count(said, "\r["); n != 101 {
		t.Errorf("drawn %d times", n)
	}
	if !strings.Contains(said, "[===============               ] 500 of 1000 runs") || !strings.HasSuffix(said, "\r\x1b[K") {
		t.Errorf("drawn as %q", said)
	}
	out.Reset()
	p = newProgress(IO{Stderr: &out})
	p.show(1, 2)
	p.clear()
	if out.Len() > 0 {
		t.Errorf("no terminal, and drawn: %q", out.String())
	}
}
