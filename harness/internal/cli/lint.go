package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/transcript"
)

type lintFlags struct {
	strict, rules, asJSON, accept bool
	probe, probeWrites, render    bool
	explain, url, sarif           string
	servers, env                  []string
	examples, fail, count         []string
	command                       []string                  // behind --
	given                         map[string]jsontext.Value // the examples, read
	counts                        []scenario.Probe          // what count says
}

func lintCommand(sys IO, p *project) *cobra.Command {
	f := &lintFlags{}
	cmd := &cobra.Command{
		Use:   "lint [SCENARIO…] [-- COMMAND ARG…]",
		Short: "Find what is wrong with scenarios, tools, MCP servers and widgets before anything runs",
		Long: `lint holds what is written against rules: scenarios without a golden transcript, a
failure case or a way back; secrets without an owner or past their day; tools that
write twice, take anything, or ask for what no model should know. It starts nothing.

With --server it starts MCP servers that retake.yaml or a scenario describes and
looks at what they say of their tools and widgets; with --url, or a command behind
--, any other. They are not called, without --probe. What a widget's page is, which fields it binds
and which states it has is held against golden/widgets/; --accept takes it anew.

With --probe each tool is called with arguments that it has to refuse, and one that
says that it only reads with such that it has to take. A tool that writes is given
nothing but what is wrong as a whole; with --example a call that may really be made,
which is then made twice with one idempotency key; with --probe-writes arguments
with a single mistake, where it takes a key. The arguments of the project's drills
(drill.yaml) are examples, too, and are really called, at a server that the project
starts with a folder of its own; one that it only has the address of is left alone.
A server that does not check its
arguments may do anything with them: probe one for tests. Where the server has the
hook (hooks: {fail: […]}, or --fail) it is also tried while a dependency fails.

With --render each widget is shown in a Chromium, where there is one, in its three
states, to a telephone and a desktop, light and dark: given results, given nothing
found, given an error. The pictures are written to reports/lint/SERVER/. What it is
given lies beside its golden file (….results.json, ….empty.json, ….error.json), or
is what its tool answers to --example, if it only reads, or is made up of the tool's
output schema. Nothing is asked of a network.

A finding that the project accepts is excused in scenarios/retake.yaml, with a
reason,

    lint:
      - {rule: tool/no-output-schema, on: shop/search, reason: Its answer is free text.}

or at its place: # retake:lint tool/no-output-schema Its answer is free text.

exit codes: 0 nothing, or warnings alone; 1 errors (with --strict warnings too);
2 bad usage; 3 a server does not start`,
		Example: `  retake lint
  retake lint travel --strict
  retake lint --server '*' --sarif lint.sarif
  retake lint --server shop --probe --example 'order={"sku":"A-17"}'
  retake lint --server shop --render
  retake lint -- npx -y @modelcontextprotocol/server-memory
  retake lint --explain tool/write-key`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if i := cmd.ArgsLenAtDash(); i >= 0 {
				args, f.command = args[:i], args[i:]
			}
			switch {
			case f.rules:
				return lintRules(sys.Stdout)
			case f.explain != "":
				return explainRule(sys.Stdout, f.explain)
			}
			return runLint(sys, p, f, args)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.rules, "rules", false, "list the rules")
	flags.StringVar(&f.explain, "explain", "", "explain this rule")
	flags.StringArrayVar(&f.servers, "server", nil, "look at this MCP server of the project; * stands for anything")
	flags.StringVar(&f.url, "url", "", "look at the MCP server at this address")
	flags.StringArrayVar(&f.env, "env", nil, "give the command behind -- this variable (NAME, or NAME=value)")
	flags.BoolVar(&f.probe, "probe", false, "call the tools of the servers, too, with arguments that they have to refuse")
	flags.BoolVar(&f.probeWrites, "probe-writes", false, "with --probe: give writes that have an idempotency key arguments with a single mistake, too")
	flags.BoolVar(&f.render, "render", false, "show the widgets of the servers in a Chromium, in each of their states")
	flags.StringArrayVar(&f.examples, "example", nil, "with --probe or --render: arguments of a call that may really be made, TOOL=JSON")
	flags.StringArrayVar(&f.count, "count", nil, "with --probe: count effects, NAME=DATABASE QUERY, besides what scenarios count")
	flags.StringArrayVar(&f.fail, "fail", nil, "with --probe: also try the server with RETAKE_FAIL=NAME")
	flags.BoolVar(&f.accept, "accept", false, "take the widgets as they are now")
	flags.BoolVar(&f.strict, "strict", false, "exit 1 on warnings, too")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object of the form "+lint.Schema)
	flags.StringVar(&f.sarif, "sarif", "", "also write the findings to this file, as SARIF 2.1.0")
	return cmd
}

// stray tells whether a server is looked at that no project describes.
func (f *lintFlags) stray() bool { return f.url != "" || len(f.command) > 0 }

// read reads what the flags say, and refuses what says nothing alone.
func (f *lintFlags) read() (err error) {
	if f.given, err = examples(f.examples); err != nil {
		return err
	}
	if f.counts, err = counts(f.count); err != nil {
		return err
	}
	if f.examples != nil && !f.probe && !f.render {
		return failure.Errorf(failure.ScenarioInvalid, "--example says what --probe and --render may call; give --probe, too")
	}
	if !f.probe && (f.probeWrites || f.fail != nil || f.count != nil) {
		return failure.Errorf(failure.ScenarioInvalid, "--probe-writes, --count and --fail say what --probe may do; give --probe, too")
	}
	if (f.probe || f.render) && len(f.servers) == 0 && !f.stray() {
		return failure.Errorf(failure.ScenarioInvalid, "--probe and --render ask servers; say which: --server NAME, --server '*' for all of the project, --url, or a command behind --")
	}
	return nil
}

func runLint(sys IO, p *project, f *lintFlags, args []string) error {
	if err := f.read(); err != nil {
		return err
	}
	l := &linter{getenv: sys.Getenv, today: clock.Wallclock()}
	l.lintFiles = len(args) > 0 || len(f.servers) == 0 && !f.stray()
	l.whole = l.lintFiles && len(args) == 0
	s, err := openSuite(sys, p)
	switch {
	case err == nil:
		l.suite = s
		defer s.Close()
		names, err := s.Select(args)
		if err != nil {
			return err
		}
		if err := l.files(names); err != nil {
			return err
		}
	case !f.stray() || l.lintFiles || len(f.servers) > 0: // else the project is not needed
		return err
	}
	if err := l.askAll(sys, f); err != nil {
		return err
	}
	if l.suite != nil && !l.lintFiles && len(f.servers) > 0 {
		l.notes = append(l.notes, "only servers were looked at; scenarios, tools of files and secrets are by: retake lint")
	}
	return l.tell(sys, f)
}

// askAll looks at the servers. That one does not start ends it: nothing is known
// of it then.
func (l *linter) askAll(sys IO, f *lintFlags) error {
	var all []server
	if len(f.servers) > 0 {
		described, err := l.servers(f.servers)
		if err != nil {
			return err
		}
		all = described
	}
	if f.stray() {
		s, err := adHoc(f.url, f.command, f.env)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	salt, err := randomSalt()
	if err != nil {
		return err
	}
	for i := range all {
		if err := l.ask(sys, &all[i], f, fmt.Sprintf("%08x", salt)); err != nil {
			return err
		}
	}
	return nil
}

// tell prints and writes the findings.
func (l *linter) tell(sys IO, f *lintFlags) error {
	found := l.excused()
	if f.sarif != "" {
		text, err := lint.SARIF(found, version())
		if err == nil {
			err = file.Replace(f.sarif, sys.hidden.values.Bytes(text))
		}
		if err != nil {
			return failure.Errorf(failure.World, "%s: writing the findings: %w", f.sarif, err)
		}
	}
	if f.asJSON {
		text, err := lint.Document(found, l.notes)
		if err != nil {
			return err
		}
		_, _ = sys.Stdout.Write(text)
		return lintExit(found, f.strict)
	}
	printFindings(sys.Stdout, found)
	for _, note := range l.notes {
		_, _ = fmt.Fprintf(sys.Stdout, "note: %s\n", transcript.Safe(note))
	}
	return lintExit(found, f.strict)
}

// lintExit is the error that carries the exit code.
func lintExit(found []lint.Finding, strict bool) error {
	errs, warnings, _ := lint.Counts(found)
	if errs > 0 || strict && warnings > 0 {
		return exitError(exitFail)
	}
	return nil
}

func printFindings(w io.Writer, found []lint.Finding) {
	folded := lint.Fold(found)
	for i := range folded {
		f := &folded[i]
		if f.Excuse != "" {
			continue
		}
		line := fmt.Sprintf("%s: %s %s: %s; %s", f.Place, f.Severity, f.Rule, f.Message, f.Mend)
		if f.Place == (lint.Place{}) {
			line = line[2:]
		}
		_, _ = fmt.Fprintf(w, "%s\n", transcript.Safe(line))
	}
	errs, warnings, excused := lint.Counts(found)
	if errs+warnings == 0 {
		_, _ = fmt.Fprintf(w, "nothing found%s\n", accepted(excused))
		return
	}
	_, _ = fmt.Fprintf(w, "\n%s, %s%s; why a rule is there: retake lint --explain RULE\n", counted(errs, "error"), counted(warnings, "warning"), accepted(excused))
}

func accepted(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d accepted with a reason", n)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func lintRules(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range lint.Rules() {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", r.ID, r.Severity, r.Finds)
	}
	if err := w.Flush(); err != nil {
		return failure.Errorf(failure.World, "writing the rules: %w", err)
	}
	return nil
}

func explainRule(w io.Writer, id string) error {
	r, ok := lint.Explain(id)
	if !ok {
		return failure.Errorf(failure.ScenarioInvalid, "unknown rule %q%s; see: retake lint --rules", id, suggest.Hint(id, lint.IDs()))
	}
	line := func(label, text string) { _, _ = fmt.Fprintf(w, "  %-10s%s\n", label, text) }
	_, _ = fmt.Fprintln(w, r.ID)
	line("severity", string(r.Severity))
	line("finds", r.Finds)
	line("why", r.Why)
	line("mend", r.Mend)
	line("asked by", r.Source)
	return nil
}
