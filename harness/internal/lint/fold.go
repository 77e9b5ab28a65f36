package lint

import (
	"fmt"
	"slices"
	"strings"
)

// toldTools is how many tools a folded finding names.
const toldTools = 8

// Fold is the findings for reading: what one rule finds in the same way at several
// tools of a server is one, at the place of the first. Of errors in no form the
// form is what counts, not their words.
func Fold(fs []Finding) []Finding {
	var out []Finding
	var tools [][]string
	for i := range fs {
		f := fs[i]
		at := slices.IndexFunc(out, func(o Finding) bool { return o.alike(&f) })
		if at < 0 {
			out, tools = append(out, f), append(tools, []string{f.Tool})
			continue
		}
		if out[at].Message != f.Message && len(tools[at]) == 1 {
			out[at].Message = fmt.Sprintf("of %q, %s", out[at].Tool, out[at].Message)
		}
		tools[at] = append(tools[at], f.Tool)
	}
	for i := range out {
		if len(tools[i]) > 1 {
			out[i].Place.In = out[i].elsewhere(several(tools[i]))
		}
	}
	return out
}

// alike tells whether two findings are the same but for the tool.
func (f *Finding) alike(o *Finding) bool {
	return f.Tool != "" && o.Tool != "" && f.Rule == o.Rule && f.Excuse == o.Excuse &&
		f.Place.File == o.Place.File && f.Place.Line == o.Place.Line && f.Place.Column == o.Place.Column &&
		f.elsewhere("") == o.elsewhere("") && (f.Message == o.Message || f.Rule == errorForm.ID)
}

// elsewhere is the place inside of what the server says, with others in the place
// of the tool.
func (f *Finding) elsewhere(others string) string {
	return strings.Replace(f.Place.In, fmt.Sprintf("tool %q", f.Tool), others, 1)
}

func several(tools []string) string {
	more := ""
	if len(tools) > toldTools {
		more = ", …"
	}
	return fmt.Sprintf("%d tools: %s%s", len(tools), strings.Join(tools[:min(len(tools), toldTools)], ", "), more)
}
