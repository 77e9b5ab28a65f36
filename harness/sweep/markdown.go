package sweep

import (
	"fmt"
	"strings"
)

// AppendMarkdown appends the matrix as Markdown.
func (r *Report) AppendMarkdown(dst []byte) []byte {
	dst = fmt.Appendf(dst, "## Sweep of %s with %s\n\n%s\n\n", cell(r.Scenario), cell(r.Model), r.Totals)
	dst = append(dst, "| fault |"...)
	for _, c := range r.Columns {
		dst = fmt.Appendf(dst, " %s |", c.Name)
	}
	dst = append(dst, "\n|---|"...)
	for range r.Columns {
		dst = append(dst, ":-:|"...)
	}
	dst = append(dst, '\n')
	for _, row := range r.Rows {
		dst = fmt.Appendf(dst, "| `%s` |", row.Fault)
		for _, c := range row.Cells {
			dst = fmt.Appendf(dst, " %s |", marks[c.State])
		}
		dst = append(dst, '\n')
	}
	dst = fmt.Appendf(dst, "\n%s\n\n", Legend)
	for _, c := range r.Columns {
		dst = fmt.Appendf(dst, "- %s: %s\n", c.Name, cell(c.Of))
	}
	if found := r.Found(); len(found) > 0 {
		dst = append(dst, "\n### Breaches\n\n"...)
		for i := range found {
			dst = appendFinding(dst, &found[i])
		}
	}
	return r.appendPairs(dst)
}

func appendFinding(dst []byte, f *Finding) []byte {
	for _, b := range f.Breaches {
		dst = fmt.Appendf(dst, "- **%s** (%s): %s\n", cell(b.Rule), cell(b.Part), cell(b.What))
	}
	return fmt.Appendf(dst, "  - by `%s`: %s\n  - `%s`\n", strings.Join(f.Faults, "`, `"), runs(f.Runs), code(f.Command))
}

// cell is text that says nothing in Markdown but itself.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`).Replace(safe(text))
}

// code is text between backquotes.
func code(text string) string { return strings.ReplaceAll(safe(text), "`", "'") }
