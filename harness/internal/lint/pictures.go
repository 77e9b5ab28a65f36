package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// FileName is the name of the picture's file, below the folder of its server.
// plain makes of a widget's address what file names and links can have.
func (p *Picture) FileName(plain func(string) string) string {
	theme := "light"
	if p.Dark {
		theme = "dark"
	}
	return fmt.Sprintf("%s-%s-%d-%s.png", plain(strings.TrimPrefix(p.Widget, "ui://")), p.State, p.Width, theme)
}

// Index is a page in Markdown with the pictures of a server's widgets and what was
// found in them.
func (s *Shown) Index(server string, plain func(string) string) []byte {
	var b bytes.Buffer
	_, _ = fmt.Fprintf(&b, "# The widgets of %s\n", markdown(server))
	var widgets []string
	for i := range s.Pictures {
		if w := s.Pictures[i].Widget; !slices.Contains(widgets, w) {
			widgets = append(widgets, w)
		}
	}
	for _, w := range widgets {
		_, _ = fmt.Fprintf(&b, "\n## %s\n", markdown(w))
		for _, state := range States() {
			s.row(&b, w, state, plain)
		}
	}
	section(&b, "Found", len(s.Findings), func(i int) string {
		f := &s.Findings[i]
		return fmt.Sprintf("%s %s: %s: %s; %s", f.Severity, f.Rule, f.Place, f.Message, f.Mend)
	})
	section(&b, "Not judged", len(s.Notes), func(i int) string { return s.Notes[i] })
	return b.Bytes()
}

func section(b *bytes.Buffer, title string, n int, line func(int) string) {
	if n == 0 {
		return
	}
	_, _ = fmt.Fprintf(b, "\n## %s\n\n", title)
	for i := range n {
		_, _ = fmt.Fprintf(b, "- %s\n", markdown(line(i)))
	}
}

func (s *Shown) row(b *bytes.Buffer, widget, state string, plain func(string) string) {
	var pictures []*Picture
	for i := range s.Pictures {
		if p := &s.Pictures[i]; p.Widget == widget && p.State == state {
			pictures = append(pictures, p)
		}
	}
	if len(pictures) == 0 {
		_, _ = fmt.Fprintf(b, "\n### %s\n\nnot shown\n", state)
		return
	}
	_, _ = fmt.Fprintf(b, "\n### %s\n\n", state)
	for _, p := range pictures {
		name := p.FileName(plain)
		theme := strings.TrimSuffix(name[strings.LastIndexByte(name, '-')+1:], ".png")
		_, _ = fmt.Fprintf(b, "![%s, %d px, %s](%s)\n", state, p.Width, theme, name)
	}
}

// markdown is a text that no reader of Markdown takes for anything else.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			_, _ = fmt.Fprintf(&b, `\\u%04x`, r)
		case strings.ContainsRune("\\`*_[]<>&|#!~", r):
			b.WriteString("\\" + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
