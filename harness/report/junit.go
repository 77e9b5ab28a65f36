package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/transcript"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Error   *junitMessage `xml:"error,omitempty"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
}

type junitMessage struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// junit draws the report that CI servers read: a failed check is a failure, a
// scenario that could not be judged an error, one not run skipped.
func (w *Writer) junit(t Totals) []byte {
	s := junitSuite{Name: "retake", Tests: len(w.rows), Time: seconds(w.watch())}
	for i := range w.rows {
		s.add(&w.rows[i])
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", "  ")
	_ = enc.Encode(struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}{Tests: t.Scenarios, Failures: s.Failures, Errors: s.Errors, Suite: s}) // a buffer takes all
	b.WriteByte('\n')
	return b.Bytes()
}

func (s *junitSuite) add(r *row) {
	c := junitCase{
		Class: "retake." + transcript.Safe(strings.ReplaceAll(r.name, "/", ".")),
		Name:  transcript.Safe(Title(r.name, r.fault) + " [" + r.model + "]"), File: r.file, Time: seconds(r.real),
	}
	switch harness.Verdict(r.verdict) {
	case harness.Pass:
	case harness.NotRun:
		c.Skipped = &junitMessage{Message: "not run: interrupted"}
		s.Skipped++
	case harness.Fail, harness.Diverged:
		c.Failure = message(r)
		s.Failures++
	default:
		c.Error = message(r)
		s.Errors++
	}
	s.Cases = append(s.Cases, c)
}

func message(r *row) *junitMessage {
	m := &junitMessage{Message: r.verdict}
	if len(r.reasons) > 0 {
		m.Type, m.Message = r.reasons[0].Class, transcript.Safe(r.reasons[0].What)
	}
	var b strings.Builder
	for _, reason := range r.reasons {
		writeReason(&b, reason, r.owner)
	}
	m.Text = b.String()
	return m
}

// writeReason is a reason as plain text, safe for a terminal.
func writeReason(b *strings.Builder, r Reason, owner string) {
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(b, "  %-6s %s\n", label, transcript.AppendSafe(nil, text, 9))
		}
	}
	fmt.Fprintf(b, "%s: %s", r.Part, r.Class)
	if owner != "" {
		fmt.Fprintf(b, " (owner: %s)", transcript.Safe(owner))
	}
	b.WriteByte('\n')
	line("what", r.What)
	line("where", r.Where)
	line("why", r.Why)
	if r.Diff != "" {
		fmt.Fprintf(b, "  diff\n%s\n", indent(r.Diff))
	}
	line("next", r.Next)
}

func indent(diff string) string {
	lines := strings.Split(strings.TrimRight(diff, "\n"), "\n")
	for i, l := range lines {
		lines[i] = "    " + transcript.Safe(l)
	}
	return strings.Join(lines, "\n")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }
