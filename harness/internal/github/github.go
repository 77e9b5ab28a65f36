// Package github speaks to GitHub Actions: annotations at lines of files, the
// summary of a step, and a guard around everything else that is printed, since the
// runner reads commands in any line of it.
package github

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
)

// On tells whether this process is a step of a workflow.
func On(getenv func(string) string) bool { return getenv("GITHUB_ACTIONS") == "true" }

// Guard writes to the log of a step.
type Guard struct {
	w     io.Writer
	token string
}

// Begin has the runner read no commands in what is printed from now on: it may be a
// model's words. token is a secret of this run, which nothing printed can guess.
func Begin(w io.Writer, token string) *Guard {
	_, _ = fmt.Fprintf(w, "::stop-commands::%s\n", token)
	return &Guard{w: w, token: token}
}

// End has it read commands again. It may be called twice.
func (g *Guard) End() {
	if g == nil || g.token == "" {
		return
	}
	_, _ = fmt.Fprintf(g.w, "::%s::\n", g.token)
	g.token = ""
}

// Annotation is an error at a place in the repository.
type Annotation struct {
	File         string // "" is the run as a whole
	Line, Column int    // from 1; 0: not known
	Title        string
	Message      string
}

// most is how many errors of one step GitHub shows.
const most = 10

// mostMessage bounds a message: the runner cuts longer ones, and not gently.
const mostMessage = 4000

// Annotate writes errors as GitHub reads them, as many as it shows, and says how
// many there are besides. root is the repository's folder.
func Annotate(w io.Writer, root string, all []Annotation) {
	for i := range all[:min(len(all), most)] {
		_, _ = fmt.Fprintln(w, command(root, &all[i]))
	}
	if more := len(all) - most; more > 0 {
		_, _ = fmt.Fprintf(w, "::notice title=retake::%d more did not pass; the summary of this step and the report tell them\n", more)
	}
}

func command(root string, a *Annotation) string {
	var props []string
	add := func(name, value string) {
		if value != "" && value != "0" {
			props = append(props, name+"="+property.Replace(value))
		}
	}
	if a.File != "" {
		add("file", within(root, a.File))
		add("line", fmt.Sprint(a.Line))
		if a.Line > 0 {
			add("col", fmt.Sprint(a.Column))
		}
	}
	add("title", a.Title)
	message := a.Message
	if len(message) > mostMessage {
		message = strings.ToValidUTF8(message[:mostMessage], "") + "…"
	}
	return "::error " + strings.Join(props, ",") + "::" + data.Replace(message)
}

// The escapes of workflow commands: in what follows the second pair of colons, and
// in properties.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// within is the file as the repository has it; one outside of it stays as it is.
func within(root, file string) string {
	full, err := filepath.Abs(file)
	if err != nil || root == "" {
		return filepath.ToSlash(file)
	}
	rel, err := filepath.Rel(root, full)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(file)
	}
	return filepath.ToSlash(rel)
}

// AppendSummary adds Markdown to the summary of the step, which is the file that
// GITHUB_STEP_SUMMARY names; "" has none.
func AppendSummary(path string, markdown []byte) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.Write(append(markdown, '\n'))
		if e := f.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return failure.Errorf(failure.World, "the summary of the step cannot be written: %w; to write none: --github=false", err)
	}
	return nil
}
