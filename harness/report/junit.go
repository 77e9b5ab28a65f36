package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/transcript"
)

type junitCase struct {
	XMLName xml.Name
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
type junit struct {
	part    *part // the cases alone
	dir     string
	secrets *redact.Values
	watch   func() time.Duration

	tests, failures, errors, skipped int
}

func beginJUnit(dir string, secrets *redact.Values) (drawing, error) {
	p, err := openPart(dir, ".junit")
	if err != nil {
		return nil, err
	}
	return &junit{part: p, dir: dir, secrets: secrets, watch: clock.Stopwatch()}, nil
}

func (j *junit) add(e *Entry, took time.Duration) error {
	s := show(e, j.secrets)
	c := junitCase{
		XMLName: xml.Name{Local: "testcase"},
		Class:   "retake." + transcript.Safe(strings.ReplaceAll(s.name, "/", ".")),
		Name:    transcript.Safe(s.title() + " [" + s.model + "]"), File: e.File, Time: seconds(took),
	}
	j.tests++
	switch harness.Verdict(e.Verdict) {
	case harness.Pass:
	case harness.NotRun:
		c.Skipped = &junitMessage{Message: "not run: interrupted"}
		j.skipped++
	case harness.Fail, harness.Diverged:
		c.Failure = s.message()
		j.failures++
	default:
		c.Error = s.message()
		j.errors++
	}
	var b bytes.Buffer
	enc := xml.NewEncoder(&b)
	enc.Indent("    ", "  ")
	if err := enc.Encode(&c); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := j.part.Write(j.secrets.Bytes(b.Bytes()))
	return err
}

func (j *junit) close(*Totals, *Run) error {
	out, err := openPart(j.dir, "junit.xml")
	if err != nil {
		_ = j.part.close()
		return err
	}
	_, _ = fmt.Fprintf(out, "%s<testsuites tests=\"%d\" failures=\"%d\" errors=\"%d\">\n", xml.Header, j.tests, j.failures, j.errors)
	_, _ = fmt.Fprintf(out, "  <testsuite name=\"retake\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%s\">\n",
		j.tests, j.failures, j.errors, j.skipped, seconds(j.watch()))
	if err := j.part.copyTo(out); err != nil {
		_ = out.close()
		return err
	}
	_, _ = fmt.Fprint(out, "  </testsuite>\n</testsuites>\n")
	return out.close()
}

// The most that a test's message and text may have: servers read the whole file
// into memory, and refuse large ones.
const mostInMessage, mostInText = 2000, 64 << 10

func (s *shown) message() *junitMessage {
	m := &junitMessage{Message: s.Verdict}
	if len(s.reasons) > 0 {
		m.Type, m.Message = s.reasons[0].Class, transcript.Safe(cut(s.reasons[0].What, mostInMessage))
	}
	var b strings.Builder
	for _, reason := range s.reasons {
		writeReason(&b, reason, s.owner)
	}
	m.Text = cutLines(b.String(), mostInText)
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
