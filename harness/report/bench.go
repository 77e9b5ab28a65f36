package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/transcript"
)

// bench draws report.bench, in the format of Go's benchmarks, so that benchstat
// reads it: a line for each entry that got as far as a model. The model is a key of
// the configuration, not of the name: compare two with benchstat -col model, or two
// runs of one with benchstat OLD NEW.
type bench struct {
	part    *part // without its head
	dir     string
	secrets *redact.Values
	config  string // the last lines of configuration
	exact   bool   // all entries had virtual time
}

func beginBench(dir string, secrets *redact.Values) (drawing, error) {
	p, err := openPart(dir, ".bench")
	if err != nil {
		return nil, err
	}
	return &bench{part: p, dir: dir, secrets: secrets, exact: true}, nil
}

func (b *bench) add(e *Entry, _ time.Duration) error {
	if len(e.Models) == 0 {
		return nil
	}
	if e.Clock != string(clock.ModeVirtual) {
		b.exact = false
	}
	s := show(e, b.secrets)
	var line strings.Builder
	if config := fmt.Sprintf("model: %s\napi: %s\nclock: %s\n", word(s.model), word(e.API), word(e.Clock)); config != b.config {
		b.config = config
		line.WriteString(config)
	}
	fmt.Fprintf(&line, "%s 1", benchName(s))
	for _, m := range measures {
		if n := m.of(e); n != "" {
			fmt.Fprintf(&line, " %s %s", n, m.unit)
		}
	}
	line.WriteByte('\n')
	_, err := b.part.Write([]byte(line.String()))
	return err
}

// benchName names the scenario and the faults. A hyphen and digits at the end are
// read as a number of processors, so there is always one.
func benchName(s *shown) string {
	name := "BenchmarkScenario/" + word(s.name)
	if s.fault != "" {
		name += "/fault=" + strings.ReplaceAll(word(s.fault), "/", "%2F")
	}
	return name + "-1"
}

// word is text without white space, which would end it.
func word(text string) string {
	text = transcript.Safe(cut(text, 300))
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, text)
}

// measures are the units of report.bench. What is not known is left out.
var measures = []struct {
	unit, better string
	of           func(e *Entry) string
}{
	{"pass/op", "higher", func(e *Entry) string {
		if e.Verdict == "pass" {
			return "1"
		}
		return "0"
	}},
	{"tokens/op", "lower", func(e *Entry) string { return strconv.FormatInt(e.Figures.Tokens.Total, 10) }},
	{"input-tokens/op", "lower", func(e *Entry) string { return known(e.Figures.Tokens.Input) }},
	{"output-tokens/op", "lower", func(e *Entry) string { return known(e.Figures.Tokens.Output) }},
	{"usd/op", "lower", func(e *Entry) string { return price(e.Figures.Cost) }},
	{"tool-usd/op", "lower", func(e *Entry) string { return price(e.Figures.ToolCost) }},
	{"ns/op", "lower", func(e *Entry) string { return strconv.FormatInt(e.Figures.Latency*1000, 10) }},
	{"model-calls/op", "lower", func(e *Entry) string { return strconv.Itoa(e.Figures.ModelAttempts) }},
	{"tool-calls/op", "lower", func(e *Entry) string { return strconv.Itoa(e.Figures.ToolCalls) }},
}

func (b *bench) close(_ *Totals, run *Run) error {
	out, err := openPart(b.dir, "report.bench")
	if err != nil {
		_ = b.part.close()
		return err
	}
	_, _ = fmt.Fprintf(out, "tool: %s\n", transcript.Safe(run.Tool))
	for _, m := range measures {
		line := "Unit " + m.unit + " better=" + m.better
		if b.exact {
			line += " assume=exact"
		}
		_, _ = fmt.Fprintln(out, line)
	}
	if err := b.part.copyTo(out); err != nil {
		_ = out.close()
		return err
	}
	return out.close()
}
