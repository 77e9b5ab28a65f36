package sweep

import (
	"regexp"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
)

// Finding is one defect, as far as can be told: runs that breach the same rules
// in the same way.
type Finding struct {
	Breaches []Breach // of the run that is the shortest to repeat
	Faults   []string // that bring it out
	Runs     int
	Command  string
}

// Found are the breaches of the report, each defect once, in the order in which
// they were met.
func (r *Report) Found() []Finding {
	var out []Finding
	at := map[string]int{}
	for _, o := range r.Breached() {
		key := r.signature(o.Breaches)
		n, ok := at[key]
		if !ok {
			n = len(out)
			at[key] = n
			out = append(out, Finding{Breaches: o.Breaches, Command: o.Command})
		}
		f := &out[n]
		f.Runs++
		for name := range strings.FieldsSeq(o.Spec) {
			name, _, _ = strings.Cut(name, "@")
			if _, known := fault.Lookup(name); known && !slices.Contains(f.Faults, name) {
				f.Faults = append(f.Faults, name)
			}
		}
		if len(o.Command) < len(f.Command) {
			f.Breaches, f.Command = o.Breaches, o.Command
		}
	}
	return out
}

// particular is what differs between two breaches of one kind.
var particular = regexp.MustCompile(`[0-9]+|"[^"]*"`)

// signature is equal for breaches of one kind, whatever the tool.
func (r *Report) signature(breaches []Breach) string {
	var kinds []string
	for _, b := range breaches {
		kind := b.Rule + b.Part + particular.ReplaceAllString(b.What, "#")
		if b.Part != string(failure.PartTool) { // which tool has to be mended is what is told
			kind = r.withoutTools(kind)
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, "\n")
}

// withoutTools hides the names of the tools that the sweep struck.
func (r *Report) withoutTools(text string) string {
	for _, c := range r.Columns {
		if name, _, ok := strings.Cut(c.Of, " call "); ok && c.Name[0] == 't' {
			text = strings.ReplaceAll(text, name, "#")
		}
	}
	return text
}
