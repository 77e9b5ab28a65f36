package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/internal/render"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// render shows the widgets of a server and writes the pictures into the folder of
// reports. Without a browser that is said, and no more.
func (l *linter) render(ctx context.Context, set *lint.Set, session *mcptool.Session, given map[string]jsontext.Value, hidden *redact.Values) error {
	browser, err := render.Find(l.getenv)
	switch {
	case errors.Is(err, render.ErrNone):
		l.notes = append(l.notes, fmt.Sprintf("server %q: the states of its widgets were not rendered: %v", set.Name, err))
		return nil
	case err != nil:
		return err
	}
	shown, err := set.Render(ctx, &lint.Rendering{Show: browser.Show, Example: l.widgetExample(set.Name), Answers: answers(ctx, set, session, given)})
	if err != nil {
		return err
	}
	l.found, l.notes = append(l.found, shown.Findings...), append(l.notes, shown.Notes...)
	dir := filepath.Join(l.reports(), "lint", harness.FileName(set.Name))
	if err := writeShown(dir, set.Name, &shown, hidden); err != nil {
		return failure.Errorf(failure.World, "server %q: writing the pictures of its widgets: %w", set.Name, err)
	}
	if len(shown.Pictures) > 0 {
		l.notes = append(l.notes, fmt.Sprintf("server %q: pictures of its widgets: %s", set.Name, filepath.ToSlash(filepath.Join(dir, "index.md"))))
	}
	return nil
}

// answers are those of tools that only read, to their examples.
func answers(ctx context.Context, set *lint.Set, session *mcptool.Session, given map[string]jsontext.Value) map[string]mcptool.Answer {
	out := map[string]mcptool.Answer{}
	for i := range set.Tools {
		if t := &set.Tools[i]; t.Effect == tool.EffectRead && given[t.Name] != nil {
			out[t.Name] = session.Ask(ctx, t.Name, given[t.Name])
		}
	}
	return out
}

func (l *linter) reports() string {
	if l.suite == nil {
		return "reports"
	}
	return l.suite.Dirs.Reports
}

// widgetExample reads what lies beside a widget's golden file: NAME.results.json,
// NAME.empty.json, NAME.error.json.
func (l *linter) widgetExample(server string) func(uri, state string) (jsontext.Value, error) {
	if l.suite == nil {
		return nil
	}
	return func(uri, state string) (jsontext.Value, error) {
		name := strings.TrimSuffix(l.widgetGolden(server, uri), ".golden") + "." + state + ".json"
		text, err := file.Read(name)
		switch v := jsontext.Value(text); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, failure.Errorf(failure.World, "an example for a widget: %w", err)
		case !v.IsValid() || v.Kind() != '{':
			return nil, failure.Errorf(failure.ScenarioInvalid, "%s: an example for a widget is one JSON object: the structuredContent of its tool, or a whole result", filepath.ToSlash(name))
		default:
			return v, nil
		}
	}
}

// pictureName is a widget's address as a part of a file's name that links need not
// escape.
func pictureName(uri string) string { return strings.ReplaceAll(harness.FileName(uri), "%", "=") }

// writeShown writes the pictures, an index of them and the findings.
func writeShown(dir, server string, shown *lint.Shown, hidden *redact.Values) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	findings, err := lint.Document(slices.Clone(shown.Findings), shown.Notes)
	if err != nil {
		return err
	}
	var errs []error
	for i := range shown.Pictures {
		p := &shown.Pictures[i]
		errs = append(errs, file.Replace(filepath.Join(dir, p.FileName(pictureName)), p.PNG))
	}
	return errors.Join(append(errs,
		file.Replace(filepath.Join(dir, "index.md"), hidden.Bytes(shown.Index(server, pictureName))),
		file.Replace(filepath.Join(dir, "findings.json"), hidden.Bytes(findings)))...)
}
