package yamlwalk

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

// show writes what the walk looks at in a tree.
func show(b *strings.Builder, n *yaml.Node) {
	const quotes = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle | yaml.TaggedStyle
	fmt.Fprintf(b, "%d:%d kind %d style %d %q merge %v\n", n.Line, n.Column, n.Kind, n.Style&quotes, n.Value, n.Tag == "!!merge")
	for _, c := range n.Content {
		show(b, c)
	}
}

func checkSubset(t *testing.T, text string) bool {
	t.Helper()
	got := readSubset([]byte(text))
	if got == nil {
		return false
	}
	var doc yaml.Node
	if err := yaml.Load([]byte(text), &doc); err != nil {
		t.Fatalf("%q is accepted, and the library says %v", text, err)
	}
	var a, b strings.Builder
	show(&a, doc.Content[0])
	show(&b, got)
	if diff := cmp.Diff(a.String(), b.String()); diff != "" {
		t.Fatalf("%q (-library +subset):\n%s", text, diff)
	}
	return true
}

func TestSubsetReadsAsTheLibrary(t *testing.T) {
	for _, tc := range []struct {
		why, text string
		inside    bool
	}{
		{"scalars of all kinds", "a: b\nc: 'it''s'\nd: \"x # y\"\ne: 12.50\nf: a b  # c\n", true},
		{"a literal block", "a: |\n  one\n\n    two\n  # three\n\n\n# four\nb: |-\n  x\n", true},
		{"lists, at both indentations", "a:\n- b\n- c\nd:\n  - e\n  - f: 1\n    g: 2\n  -   h: 3\n      i: 4\n", true},
		{"flow collections", "a: [b, 14:00, {c: d e, f: []}, 'g', {}] # h\n", true},
		{"beyond ASCII, columns count runes", "a: é [x]\nb: [é, ü, {c: d}]\n", true},
		{"comments and empty lines", "# x\n\na: b\n  # y\n\nc:\n  # z\n  d: e\n", true},
		{"no line end at the end", "a: b", true},
		{"a plain scalar goes on", "a: b\n  c\n", false},
		{"an anchor", "a: &b c\n", false},
		{"an empty value", "a:\nb: c\n", false},
		{"a second document", "a: b\n---\nc: d\n", false},
		{"a tab", "a:\tb\n", false},
		{"an escape", `a: "\u0041"`, false},
		{"a merge key", "<<: {a: b}\n", false},
		{"an error", "a: b: c\n", false},
	} {
		if inside := checkSubset(t, tc.text); inside != tc.inside {
			t.Errorf("%s: inside %v, want %v", tc.why, inside, tc.inside)
		}
	}
}

// A file that falls back to the library loses speed unseen.
func TestOwnFilesAreInside(t *testing.T) {
	files, err := filepath.Glob("../../../scenarios/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../../scenario/testdata/scenarios/travel/umbrella.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !checkSubset(t, string(text)) {
			t.Errorf("%s falls back to the library; write it without anchors, escapes and flow collections of several lines", file)
		}
	}
}

// Lines that look like YAML, most of them wrong in one place or another.
func TestSubsetOnNearYAML(t *testing.T) {
	inside := 0
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 7).Draw(rt, "lines") {
			b.WriteString(strings.Repeat(" ", rapid.SampledFrom([]int{0, 0, 0, 2, 2, 4, 1, 3}).Draw(rt, "indent")))
			if rapid.IntRange(0, 3).Draw(rt, "whole") > 0 {
				b.WriteString(rapid.SampledFrom([]string{
					"a: b", "b: [c, 'd', {e: f}]", "- c", "- a: b", "-  b: 'x'  # y", "a:", "b: |", "c: |-", "text # x", "# d", "", "é: 1", "a: é [x]",
				}).Draw(rt, "line"))
			} else {
				for range rapid.IntRange(1, 4).Draw(rt, "tokens") {
					b.WriteString(rapid.SampledFrom([]string{
						"a: ", "b: ", "a:", "b", "- ", "-", "- a: ", "c", " ", "'d'", `"e"`, "[", "]", "{", "}", ", ", ":", "#", " # f",
						"|", "|-", ">", "é", "---", "...", "''", "?", "1.5", "[a, b]", "{a: b}", "a: [", "a: {b: ", "-1", "&a", "*a", "!b",
					}).Draw(rt, "token"))
				}
			}
			b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\n", "\n\n", " \n"}).Draw(rt, "end"))
		}
		if checkSubset(t, b.String()) {
			inside++
		}
	})
	if inside == 0 {
		t.Error("no text was inside: the test says nothing")
	}
}

func FuzzSubset(f *testing.F) {
	f.Add("a: b\nc:\n  - d: [e, {f: 'g'}]\n    h: |\n      i\n# j\n")
	f.Add("a: -1\nb: - c\nd: [-, -e, ?f, a:b]\n")
	f.Add("a:\n- b\n-  c: d\n   e: f\n")
	f.Add("a: |-\n  x\n y\nb: ...\n---\n...\n%T\n")
	text, err := os.ReadFile("../../scenario/testdata/scenarios/travel/umbrella.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) {
		if _, message := unreadable([]byte(text)); message != "" {
			return
		}
		checkSubset(t, text)
	})
}

func BenchmarkParse(b *testing.B) {
	text, err := os.ReadFile("../../scenario/testdata/scenarios/travel/umbrella.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("subset", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if readSubset(text) == nil {
				b.Fatal("outside")
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var n yaml.Node
			if err := yaml.Load(text, &n); err != nil {
				b.Fatal(err)
			}
		}
	})
}
