package compare_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/retake-harness/retake/harness/compare"
	"github.com/retake-harness/retake/harness/report"
)

// evil is text that would like to be more than text.
const evil = "<script>alert(1)</script> \x1b[31mred\x1b]0;title\a \u202egnirts\u2066 ``` | a | b |\n# heading [link](javascript:x) ![i](http://evil.example/i.png) @maintainer www.evil.example &lt; <!-- --> \x00 \xff $(rm) *b* _i_"

// hostile is a report with such text wherever a report has text.
func hostile(t *testing.T) *made {
	t.Helper()
	m := suite("m-2", 20, 1, func(s, _ int, e *report.Entry) {
		if s == 3 {
			fail(e)
			e.Reasons[0].What, e.Reasons[0].Class = evil, "expectation"
			e.Tools[0].Tool = evil
		}
	})
	e := entry("x"+strings.ReplaceAll(evil, "\x00", ""), "m-2", 1)
	e.Name = strings.Map(func(r rune) rune {
		if r == '/' || r == utf8.RuneError {
			return '-'
		}
		return r
	}, e.Name)
	m.add(e)
	for i := range m.entries {
		m.texts = append(m.texts, fmt.Sprintf("scenario  x\nassistant %s %d\n%s\n", evil, i, strings.Repeat("<b>`@x`</b>", 100_000)))
	}
	return m
}

func TestHostileText(t *testing.T) {
	c := compared(t, suite("m-1", 20, 1, nil), hostile(t), compare.Options{})
	if len(c.Scenario) == 0 || c.Scenario[0].SideBySide == nil {
		t.Fatalf("%+v", c.Scenario)
	}
	for _, line := range append(c.Scenario[0].SideBySide.Old, c.Scenario[0].SideBySide.New...) {
		if strings.ContainsFunc(line, unicode.IsControl) || utf8.RuneCountInString(line) > 60 {
			t.Errorf("side by side: %q", line)
		}
	}
	text, page := string(c.AppendText(nil)), string(c.AppendMarkdown(nil))
	for name, out := range map[string]string{"text": text, "page": page} {
		if !utf8.ValidString(out) {
			t.Errorf("%s: not UTF-8", name)
		}
		for _, r := range out {
			if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%s: has %U", name, r)
				break
			}
		}
		for line := range strings.SplitSeq(out, "\n") {
			if len(line) > 4000 {
				t.Errorf("%s: a line of %d bytes", name, len(line))
			}
		}
	}
	harmlessMarkdown(t, page)
	if len(text) > 60_000 {
		t.Errorf("text of %d bytes", len(text))
	}
}

// harmlessMarkdown looks at what lies outside of code.
func harmlessMarkdown(t *testing.T, page string) {
	t.Helper()
	fence := ""
	for line := range strings.SplitSeq(page, "\n") {
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = strings.TrimSuffix(line, "text")
			continue
		case fence != "" && line == fence:
			fence = ""
			continue
		case fence != "":
			continue
		}
		outside := ""
		for i, part := range strings.Split(strings.ReplaceAll(line, "\\`", ""), "`") {
			if i%2 == 0 {
				outside += part
			}
		}
		outside = strings.ReplaceAll(strings.ReplaceAll(outside, `\[`, ""), `\!`, "")
		for _, bad := range []string{"<", "[", "@m", "http://", "www.e", "gnirts | a | b"} {
			if strings.Contains(outside, bad) {
				t.Errorf("%q is in %q", bad, line)
			}
		}
		if strings.HasPrefix(line, "# heading") {
			t.Errorf("a heading: %q", line)
		}
	}
	if fence != "" {
		t.Error("a fence is not closed")
	}
}

// A page begins with the verdict and fits into a comment.
func TestThePage(t *testing.T) {
	long := strings.Repeat("word ", 400)
	old := suite("m-1", 300, 1, nil)
	now := suite("m-2", 300, 1, func(_, _ int, e *report.Entry) {
		fail(e)
		e.Reasons[0].What = long
	})
	for range old.entries {
		old.texts, now.texts = append(old.texts, "a\n"+strings.Repeat("same line of the old side\n", 30)), append(now.texts, "a\n"+strings.Repeat("other line\n", 30))
	}
	c := compared(t, old, now, compare.Options{})
	page := string(c.AppendMarkdown(nil))
	if !strings.HasPrefix(page, "# REVERT\n\n- success: ") || len(page) > 60_000 {
		t.Errorf("%d bytes: %.100q", len(page), page)
	}
	if !strings.Contains(page, " more.\n") || !strings.Contains(page, "| output tokens | 300000 | 300000 |") {
		t.Error("what there was no room for is not counted, or the figures are not there")
	}
	if c.More != 100 || len(c.Scenario) != 200 {
		t.Errorf("%d scenarios and %d more", len(c.Scenario), c.More)
	}
	if again := string(c.AppendMarkdown(nil)); again != page {
		t.Error("drawn twice, two pages")
	}
}

func TestSideBySide(t *testing.T) {
	old, now := &made{}, &made{}
	old.add(entry("a", "m-1", 0))
	now.add(entry("a", "m-1", 0))
	fail(&now.entries[0])
	old.texts = []string{"scenario  a\nuser      pay\ncall      call-1 pay {\"n\":1}\noutcome   completed\n"}
	now.texts = []string{"scenario  a\nuser      pay\ncall      call-1 pay {\"n\":2}\ncall      call-2 pay {\"n\":2}\noutcome   completed\n"}
	c := compared(t, old, now, compare.Options{})
	s := c.Scenario[0].SideBySide
	if s == nil || s.Line != 1 || s.Same != 2 || len(s.Old) != 4 || len(s.New) != 5 {
		t.Fatalf("%+v", s)
	}
	want := "   3> call      call-1 pay {\"n\":1}                                 │ call      call-1 pay {\"n\":2}\n"
	if text := string(c.AppendText(nil)); !strings.Contains(text, want) {
		t.Errorf("%s\nwithout\n%s", text, want)
	}
}
