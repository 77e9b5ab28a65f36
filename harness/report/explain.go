package report

import (
	"fmt"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/redact"
)

// Title names a run for people: the scenario's name, and the id of the run under
// faults.
func Title(name, fault string) string {
	if fault == "" {
		return name
	}
	return name + " under " + fault
}

// TitleOf names a result for people: its scenario, faults and trial.
func TitleOf(r *harness.Result) string {
	return (&Entry{Name: r.Name, Fault: r.Variant, Trial: r.Trial}).Title()
}

// Title names the entry for people: its scenario, faults and trial.
func (e *Entry) Title() string {
	if e.Trial == 0 {
		return Title(e.Name, e.Fault)
	}
	return fmt.Sprintf("%s, trial %d", Title(e.Name, e.Fault), e.Trial)
}

// Explain is what did not hold in a result, as text for a terminal, indented by
// n; "" for a pass.
func Explain(r *harness.Result, n int) string {
	var b strings.Builder
	owner := ""
	if r.Scenario != nil {
		owner = r.Scenario.Owner
	}
	for _, reason := range reasonsOf(r) {
		writeReason(&b, reason, owner)
	}
	if b.Len() == 0 {
		return ""
	}
	pad := strings.Repeat(" ", n)
	text := r.Secrets.Text(strings.TrimRight(b.String(), "\n"))
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad) + "\n"
}

// Discard counts, and writes nothing.
type Discard struct {
	tally *tally
	md    *markdown
}

// Discarding is like a Writer that leaves no files.
func Discarding(secrets *redact.Values) *Discard {
	return &Discard{tally: newTally(), md: newMarkdown(secrets)}
}

// Add counts a result.
func (d *Discard) Add(r *harness.Result) error {
	e := EntryOf(r)
	d.tally.add(&e)
	d.md.add(&e)
	return nil
}

// Markdown is what report.md would be.
func (d *Discard) Markdown() []byte {
	totals := d.Totals()
	return d.md.text(&totals)
}

// Totals are the sums so far.
func (d *Discard) Totals() Totals { return d.tally.result() }

// Close does nothing.
func (d *Discard) Close(bool) (string, error) { return "", nil }

// Discard does nothing.
func (d *Discard) Discard() {}
