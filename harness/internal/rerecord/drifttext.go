package rerecord

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes what has drifted for a pull request.
func Markdown(w io.Writer, all []Drifted, fresh bool) error {
	title := "Recordings, held against what they were made with"
	if fresh {
		title = "Recordings, held against a fresh run"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", title, Summary(all))
	rows := 0
	for i := range all {
		for _, f := range all[i].Findings {
			if rows == 0 {
				b.WriteString("| | Scenario | Model | What | |\n|---|---|---|---|---|\n")
			}
			rows++
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", f.Tier, cell(all[i].title()), cell(all[i].Model), f.What, cell(f.Text))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell makes a text stand in one cell, as it is.
func cell(s string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "\n", " ", "\r", " ", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]").Replace(s)
}

func (d *Drifted) title() string {
	if d.Fault == "" {
		return d.Scenario
	}
	return d.Scenario + " under " + d.Fault
}

// Summary counts the recordings by their worst findings: 5 recordings: 1 with
// errors, 1 with warnings, 3 as they were.
func Summary(all []Drifted) string {
	n := map[Tier]int{}
	for i := range all {
		n[all[i].Worst()]++
	}
	parts := []string{fmt.Sprintf("%d with errors", n[Error]), fmt.Sprintf("%d with warnings", n[Warn]), fmt.Sprintf("%d as they were", n[Info]+n[""])}
	noun := "recordings"
	if len(all) == 1 {
		noun = "recording"
	}
	return fmt.Sprintf("%d %s: %s", len(all), noun, strings.Join(parts, ", "))
}
