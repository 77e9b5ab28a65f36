package report

import (
	"encoding/csv"
	"strconv"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/transcript"
)

// table draws report.csv: a row for each entry, for spreadsheets and data frames.
// It has nothing that differs from run to run.
type table struct {
	part    *part
	out     *csv.Writer
	secrets *redact.Values
}

var columns = []string{
	"scenario", "model", "fault", "trial", "verdict", "class", "part", "owner", "api", "clock", "outcome", "stop",
	"iterations", "model_attempts", "tool_calls", "tool_attempts",
	"input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens", "total_tokens",
	"cost_usd", "tool_cost_usd", "latency_us", "reasons", "what", "labels",
}

func beginCSV(dir string, secrets *redact.Values) (drawing, error) {
	p, err := openPart(dir, "report.csv")
	if err != nil {
		return nil, err
	}
	t := &table{part: p, out: csv.NewWriter(p), secrets: secrets}
	return t, t.out.Write(columns)
}

func (t *table) add(e *Entry, _ time.Duration) error {
	s := show(e, t.secrets)
	var class, what string
	if len(s.reasons) > 0 {
		class, what = s.reasons[0].Class, s.reasons[0].What
	}
	f := &e.Figures
	row := []string{
		s.name, s.model, s.fault, strconv.Itoa(max(e.Trial, 1)), e.Verdict, class, e.Part, s.owner, e.API, e.Clock, e.Outcome.Class, e.Outcome.Stop,
		strconv.Itoa(f.Iterations), strconv.Itoa(f.ModelAttempts), strconv.Itoa(f.ToolCalls), strconv.Itoa(f.ToolAttempts),
		known(f.Tokens.Input), known(f.Tokens.CacheRead), known(f.Tokens.CacheWrite), known(f.Tokens.Output), known(f.Tokens.Reasoning), strconv.FormatInt(f.Tokens.Total, 10),
		price(f.Cost), price(f.ToolCost), strconv.FormatInt(f.Latency, 10), strconv.Itoa(len(s.reasons)), what, string([]rune(t.secrets.Text(strings.Join(e.Labels, " ")))),
	}
	for i := range row {
		row[i] = harmless(row[i])
	}
	return t.out.Write(row)
}

func (t *table) close(*Totals, *Run) error {
	t.out.Flush()
	err := t.out.Error()
	if e := t.part.close(); err == nil {
		err = e
	}
	return err
}

// mostInCell is less than the 32,767 characters that spreadsheets take.
const mostInCell = 8000

// harmless makes text that spreadsheets would take for a formula plain text, as
// they themselves mark it.
func harmless(text string) string {
	text = transcript.Safe(cut(text, mostInCell))
	if text != "" && strings.ContainsRune("=+-@|%\t\r＝＋－＠", []rune(text)[0]) {
		return "'" + text
	}
	return text
}

// known spells a figure; nothing for one that was never reported.
func known(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func price(cost *float64) string {
	if cost == nil {
		return ""
	}
	return strconv.FormatFloat(*cost, 'f', -1, 64)
}
