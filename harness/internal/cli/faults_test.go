package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/cli"
	"github.com/retake-harness/retake/harness/scenario"
)

// The examples of every fault are what a scenario and the command line take.
func TestExamplesOfFaults(t *testing.T) {
	const around = "why: w\nowner: o\ntask: t\nmodel: m\nstream: true\ntools: [{name: get_weather, effect: read, timeout: 10s}, {name: create_order, timeout: 10s}, {name: commit_order, timeout: 10s, approval: true}]\n"
	for _, f := range fault.Catalogue() {
		var out, errs bytes.Buffer
		code := cli.Main([]string{"faults", f.Name}, cli.IO{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Context: t.Context(),
		})
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", f.Name, code, errs.String())
		}
		_, rest, _ := strings.Cut(out.String(), "in a scenario\n")
		example, command, _ := strings.Cut(rest, "  on the command line\n")
		s, err := scenario.Parse("s.yaml", []byte(around+strings.ReplaceAll(example, "\n    ", "\n")[len("    "):]), scenario.Options{})
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		_, spec, _ := strings.Cut(strings.TrimSpace(command), "--fault ")
		got, err := fault.ParseSpec(spec)
		if err != nil || got != s.Variants[0].Faults[0] {
			t.Errorf("%s: the command line says %s, the scenario %s, %v", f.Name, spec, s.Variants[0].Faults[0], err)
		}
		for _, text := range []string{f.What, f.Breaks, f.Right} {
			if text == "" || strings.HasSuffix(text, ".") {
				t.Errorf("%s: %q is no clause", f.Name, text)
			}
		}
	}
}
