package drill

import (
	"fmt"
	"strings"
)

// AppendMarkdown appends the report as Markdown.
func (r *Report) AppendMarkdown(dst []byte) []byte {
	dst = fmt.Appendf(dst, "## Drill of %s (tool %s)\n\n%s\n\n| | invariant | | |\n|:-:|---|---|---|\n", cell(r.Drill), cell(r.Tool), &r.Totals)
	for i := range r.Rows {
		row := &r.Rows[i]
		dst = fmt.Appendf(dst, "| %s | %s | %s | %s |\n", marks[row.State], cell(row.Name()), cell(row.Title), cell(row.What))
	}
	dst = fmt.Appendf(dst, "\n%s\n", Legend)
	for i := range r.Rows {
		if s := r.Rows[i].State; s == Breached || s == Warning {
			dst = r.Rows[i].appendMarkdown(dst)
		}
	}
	return dst
}

func (r *Row) appendMarkdown(dst []byte) []byte {
	dst = fmt.Appendf(dst, "\n### %s: %s\n\n%s: %s\n\n- why: %s\n- do: %s\n\n", cell(r.Name()), cell(r.Title), r.State, cell(r.What), cell(r.Why), cell(r.Do))
	for i := range r.Steps {
		dst = fmt.Appendf(dst, "%d. %s\n", i+1, cell(r.Steps[i].String()))
	}
	return dst
}

// cell is text that says nothing in Markdown but itself.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`).Replace(safe(text))
}
