package transcript_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/retake-harness/retake/harness/transcript"
)

// checkSafe wants a text without anything that a terminal or a reader would not
// see as it is.
func checkSafe(t *testing.T, text []byte) {
	t.Helper()
	if !utf8.Valid(text) {
		t.Errorf("not UTF-8: %q", text)
	}
	for _, r := range string(text) {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%U is in %q", r, text)
		}
	}
}

func TestAppendSafe(t *testing.T) {
	for _, tc := range []struct{ why, text, want string }{
		{"ordinary text stays, in any script", "grüße 世界 🙂 \\n", "grüße 世界 🙂 \\n"},
		{"an escape sequence is spelled out", "\x1b[31mred", `\u001b[31mred`},
		{"so are NUL, DEL and a carriage return", "a\x00b\x7fc\r", `a\u0000b\u007fc\r`},
		{"a C1 control is one too", "\u009b31m", `\u009b31m`},
		{"a byte that is no UTF-8 is shown", "a\xffb", `a\xffb`},
		{"the replacement character itself is text", "\ufffd", "\ufffd"},
		{"text that runs backwards", "\u202egpj.exe\u2066", `\u202egpj.exe\u2066`},
		{"a line separator is no line", "a\u2028b\u2029c\ufeff", `a\u2028b\u2029c\ufeff`},
		{"text hidden in tags", "hi\U000e0041", `hi\ue0041`},
		{"a tab", "a\tb", `a\tb`},
		{"a line goes on at the column", "a\nb\n", "a\n  b\n  "},
	} {
		if got := string(transcript.AppendSafe(nil, tc.text, 2)); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.why, got, tc.want)
		}
	}
	if got := transcript.Safe("a\nb"); got != `a\nb` {
		t.Errorf("Safe keeps one line: got %q", got)
	}
}

func FuzzAppendSafe(f *testing.F) {
	f.Add("a\x1b[2J\u202e\u009b\xff\n\u2028", 3)
	f.Add("\xe2\x80", -1)
	f.Fuzz(func(t *testing.T, text string, indent int) {
		indent = min(max(indent, -1), 20)
		got := transcript.AppendSafe([]byte("x"), text, indent)
		checkSafe(t, got)
		if got[0] != 'x' {
			t.Errorf("what was there is gone: %q", got)
		}
		if indent < 0 && bytes.ContainsRune(got, '\n') {
			t.Errorf("more than one line: %q", got)
		}
		for line := range strings.Lines(string(got)) {
			if line != strings.Split(string(got), "\n")[0]+"\n" && !bytes.HasPrefix(got, []byte(line)) &&
				!strings.HasPrefix(line, strings.Repeat(" ", max(indent, 0))) {
				t.Errorf("a line begins before column %d: %q", indent, line)
			}
		}
	})
}

func TestDiff(t *testing.T) {
	long := strings.Repeat("x", 5000)
	many := strings.Repeat("line\n", 200)
	for _, tc := range []struct {
		why, want, got string
		has            []string // in the difference
		most           int      // bytes
	}{
		{"a changed line shows both", "a\nb\nc\n", "a\nB\nc\n", []string{"-b\n+B\n", " a\n"}, 100},
		{"a missing end of line is one", "a\n", "a", []string{"-a", "+a"}, 120},
		{
			"long lines are cut around the place where they differ",
			long + "OLD" + long, long + "NEW" + long,
			[]string{"OLD", "NEW", "-… x", "+… x", "(10003 bytes)", "… (10003"},
			1500,
		},
		{"at their beginning too", "OLD" + long, "NEW" + long, []string{"-OLD", "+NEW"}, 1500},
		{"and at their end", long + "OLD", long + "NEW", []string{"OLD (5003 bytes)", "NEW (5003 bytes)"}, 1500},
		{"inside a letter of several bytes", long + "ä" + long, long + "ö" + long, []string{"ä", "ö"}, 1500},
		{"each changed line by its own pair", "a" + long + "1\nb" + long + "2\n", "a" + long + "3\nb" + long + "4\n", []string{"1 (", "2 (", "3 (", "4 ("}, 3000},
		{"a long line that is only added", "", long + "\n", []string{"xxx … (5000 bytes)"}, 700},
		{"many lines are cut, and counted", "", many, []string{"… 143 more lines\n"}, 1000},
	} {
		diff := transcript.Diff([]byte(tc.want), []byte(tc.got))
		for _, part := range tc.has {
			if !strings.Contains(diff, part) {
				t.Errorf("%s: %q is not in:\n%s", tc.why, part, diff)
			}
		}
		if len(diff) > tc.most {
			t.Errorf("%s: %d bytes, at most %d wanted", tc.why, len(diff), tc.most)
		}
	}
	if diff := transcript.Diff([]byte("a"), []byte("a")); diff != "" {
		t.Errorf("equal texts have a difference: %s", diff)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add([]byte("a\nb"), []byte("a\nc\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		diff := transcript.Diff(a, b)
		if (diff == "") != bytes.Equal(a, b) {
			t.Errorf("a difference %q of %q and %q", diff, a, b)
		}
	})
}
