package lint

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
)

var (
	widgetGolden = Rule{
		"widget/golden", Error, "a widget that is not the one that was accepted: another page, other fields, other states",
		"a changed widget is a new release: hosts still show the old one, against the new answers",
		"release it under a new version of its address; then accept it: retake lint --accept", "E10",
	}
	widgetNoGolden = Rule{
		"widget/no-golden", Warning, "a widget that was never accepted",
		"nobody sees when it changes",
		"accept it: retake lint --accept", "E10",
	}
)

// Golden is what a widget is held against: the hash of its page, the fields that
// it binds, its states.
func (w *Widget) Golden() []byte {
	p := w.shown()
	var b bytes.Buffer
	_, _ = fmt.Fprintf(&b, "widget  %s\nsha256  %x\n", w.URI, sha256.Sum256([]byte(w.HTML)))
	for _, bind := range p.binds {
		_, _ = fmt.Fprintf(&b, "binds   %s\n", bind)
	}
	for _, state := range p.states {
		_, _ = fmt.Fprintf(&b, "state   %s\n", state)
	}
	return b.Bytes()
}

// Goldens holds the widgets against the files of path; with accept it writes them.
// An error is of class world.
func (s *Set) Goldens(path func(server, uri string) string, accept bool) ([]Finding, error) {
	var out []Finding
	for i := range s.Widgets {
		w := &s.Widgets[i]
		if w.Err != "" {
			continue
		}
		name, got := path(s.Name, w.URI), w.Golden()
		if accept {
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), file.Replace(name, got)); err != nil {
				return nil, failure.Errorf(failure.World, "the widget %q: writing what is accepted: %w", w.URI, err)
			}
			continue
		}
		want, err := file.Read(name)
		at := s.widgetPlace(w.URI, "")
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, widgetNoGolden.finding(at, s.on(w.URI), "nobody has accepted it yet"))
		case err != nil:
			return nil, failure.Errorf(failure.World, "the widget %q: reading what was accepted: %w", w.URI, err)
		case !bytes.Equal(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")), got):
			out = append(out, widgetGolden.finding(at, s.on(w.URI), "%s", changed(want, got)))
		}
	}
	return out, nil
}

// changed says what is not as it was accepted.
func changed(want, got []byte) string {
	lines := func(b []byte) []string { return strings.Split(strings.TrimSpace(string(b)), "\n") }
	in := func(list []string, line string) bool {
		for _, l := range list {
			if strings.TrimSpace(l) == strings.TrimSpace(line) {
				return true
			}
		}
		return false
	}
	var parts []string
	for _, l := range lines(want) {
		if !in(lines(got), l) && !strings.HasPrefix(l, "sha256") {
			parts = append(parts, "no more "+strings.Join(strings.Fields(l), " "))
		}
	}
	for _, l := range lines(got) {
		if !in(lines(want), l) && !strings.HasPrefix(l, "sha256") {
			parts = append(parts, "now "+strings.Join(strings.Fields(l), " "))
		}
	}
	if parts == nil {
		return "its page has changed"
	}
	return "its page has changed: " + join(parts)
}
