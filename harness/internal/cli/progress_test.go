package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// screen is a terminal with a progress whose time stands still unless a test
// moves it.
type screen struct {
	bytes.Buffer
	width int
	now   time.Duration
	*progress
}

func newScreen(width int, terminal bool) *screen {
	s := &screen{width: width}
	s.progress = newProgress(IO{Stderr: &s.Buffer, ErrTerminal: terminal, Getenv: func(string) string { return "" }, Width: func() int { return s.width }})
	s.watch = func() time.Duration { return s.now }
	return s
}

// The line is drawn on a terminal, not oftener than the eye sees, at the end in any
// case, and taken away.
func TestProgress(t *testing.T) {
	s := newScreen(80, true)
	for n := range 1000 {
		s.now += time.Millisecond
		s.show(n+1, 1000)
	}
	s.clear()
	said := s.String()
	if n := strings.Count(said, "runs"); n != 11 {
		t.Errorf("drawn %d times", n)
	}
	if !strings.Contains(said, "[===============               ] 501 of 1000 runs") || !strings.Contains(said, "] 1000 of 1000 runs") || !strings.HasSuffix(said, "\r\x1b[J") {
		t.Errorf("drawn as %q", said)
	}
}

func TestProgressFitsTheTerminal(t *testing.T) {
	for _, tc := range []struct {
		why   string
		width int
		want  string
	}{
		{"room for all", 80, "[===============               ] 1 of 2 runs"},
		{"just so much that nothing wraps", 45, "[===============               ] 1 of 2 runs"},
		{"too narrow for the bar", 44, "1/2"},
		{"too narrow for anything", 3, "1/"},
		{"a terminal that does not say", 0, "[===============               ] 1 of 2 runs"},
	} {
		s := newScreen(tc.width, true)
		s.show(1, 2)
		if got := s.String(); got != tc.want {
			t.Errorf("%s: %q", tc.why, got)
		}
	}
}

// A line that a narrower terminal has broken into rows is taken away with all of
// them.
func TestProgressAfterAResize(t *testing.T) {
	s := newScreen(80, true)
	s.show(1, 2) // 44 characters
	s.Reset()
	s.width = 20
	s.clear()
	if got := s.String(); got != "\r\x1b[2A\x1b[J" {
		t.Errorf("%q", got)
	}
}

// What is printed comes above the line, which is drawn again.
func TestProgressBelowWhatIsPrinted(t *testing.T) {
	s := newScreen(12, true)
	s.show(1, 2)
	s.above(func() { _, _ = s.WriteString("PASS\n") })
	s.clear()
	s.above(func() { _, _ = s.WriteString("end\n") })
	if got := s.String(); got != "1/2\r\x1b[JPASS\n1/2\r\x1b[Jend\n" {
		t.Errorf("%q", got)
	}
}

// Without a terminal there are plain lines when it takes long, and none when it is
// to be quiet.
func TestProgressElsewhere(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		s := newScreen(80, false)
		s.quiet = quiet
		for n := range 100 {
			s.now += time.Second
			s.say(false, (&way{done: n + 1, total: 100}).texts(s.now)...)
		}
		s.clear()
		want := "10 of 100 scenarios, 0 tokens, 1.0/s, 1m30s left\n40 of 100 scenarios, 0 tokens, 1.0/s, 1m0s left\n" +
			"70 of 100 scenarios, 0 tokens, 1.0/s, 30s left\n100 of 100 scenarios, 0 tokens, 1.0/s\n"
		if quiet {
			want = ""
		}
		if diff := cmp.Diff(want, s.String()); diff != "" {
			t.Errorf("quiet %v (-want +got):\n%s", quiet, diff)
		}
	}
}

func TestWay(t *testing.T) {
	cost := 0.125
	w := &way{done: 3, total: 9, failed: 1, tokens: 12345, cost: &cost}
	want := []string{
		"3 of 9 scenarios, 1 failed, 12,345 tokens, $0.1250, 1.5/s, 4s left",
		"3 of 9 scenarios, 1 failed, 12,345 tokens, $0.1250, 1.5/s",
		"3 of 9 scenarios, 1 failed, 12,345 tokens, $0.1250",
		"3 of 9 scenarios, 1 failed, 12,345 tokens",
		"3 of 9 scenarios, 1 failed",
		"3 of 9 scenarios",
		"3/9",
	}
	if diff := cmp.Diff(want, w.texts(2*time.Second)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (&way{total: 1}).texts(time.Minute); got[0] != "0 of 1 scenario, 0 tokens" {
		t.Errorf("at the beginning: %q", got[0])
	}
}
