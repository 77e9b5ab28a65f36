package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/tool"
)

func faultsCommand(sys IO) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "faults [NAME…]", Short: "List the faults that can be injected, or explain some",
		Long: `faults lists the catalogue: what can go wrong around an agent and be injected at an
exact place; with a pattern such as 'tool.*' a part of it. With a name it explains
the fault: what breaks in real life, what a right loop does, which parameters it
takes, and how a scenario and the command line spell it.`,
		Example: `  retake faults
  retake faults 'tool.*'
  retake faults tool.lost_ack
  retake faults --json | jq -r .name`,
		RunE: func(_ *cobra.Command, args []string) error {
			faults, err := fault.Select(args...)
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				return faultsJSON(sys.Stdout, faults)
			case len(args) == 0 || slices.ContainsFunc(args, fault.IsPattern):
				return faultTable(sys.Stdout, faults)
			}
			for i, f := range faults {
				if i > 0 {
					_, _ = fmt.Fprintln(sys.Stdout)
				}
				explainFault(sys.Stdout, f)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line for each fault")
	return cmd
}

func faultTable(out io.Writer, faults []*fault.Fault) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "fault\tstrikes\tthe model sees it\twhat happens")
	for _, f := range faults {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", f.Name, strikes(f), yesNo(f.Seen), f.What)
	}
	if err := w.Flush(); err != nil {
		return failure.Errorf(failure.World, "writing the table: %w", err)
	}
	_, _ = fmt.Fprint(out, "\nexplain one: retake faults NAME; inject one: retake run SCENARIO --fault NAME; all: retake sweep SCENARIO\n")
	return nil
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// strikes says in two words where the fault applies.
func strikes(f *fault.Fault) string {
	switch {
	case f.Whole():
		return "the run"
	case f.Side() == fault.SideTool:
		return "a tool call"
	case f.Inside == fault.OnlyInside:
		return "a stream"
	case f.Inside == fault.MayInside:
		return "an answer or a stream"
	default:
		return "an answer"
	}
}

func explainFault(w io.Writer, f *fault.Fault) {
	line := func(label, text string) { _, _ = fmt.Fprintf(w, "  %-10s%s\n", label, text) }
	_, _ = fmt.Fprintln(w, f.Name)
	line("what", f.What)
	line("breaks", f.Breaks)
	line("right", f.Right)
	line("strikes", strikes(f)+lasts(f))
	line("seen", seen(f))
	if f.FoundBy != "" {
		line("found by", "rule "+f.FoundBy+" of the contract: no agent can prevent it; a scenario says expect: {breaches: ["+f.FoundBy+"]}")
	}
	for i, p := range f.Takes {
		label := "with"
		if i > 0 {
			label = ""
		}
		line(label, p.Name+kindsOf(f, p.Name)+"; left out: "+p.Default)
	}
	spec, on := example(f), "travel/umbrella"
	switch {
	case f.Inside == fault.OnlyInside:
		on = "travel/umbrella-stream"
	case spec.At.Tool == "create_order":
		on = "checkout/gift"
	case spec.At.Tool == "commit_order":
		on = "giftgenius/checkout"
	}
	_, _ = fmt.Fprintf(w, "\n  in a scenario\n%s\n  on the command line\n    retake run %s --fault %s\n", scenarioExample(f, spec), on, spec)
}

func lasts(f *fault.Fault) string {
	if f.Lasting {
		return "; goes on with every later model call, unless times says how many"
	}
	if f.Retried {
		return "; once, and the next attempt goes through, unless times says more"
	}
	return ""
}

func seen(f *fault.Fault) string {
	if f.Seen {
		return "the model sees what came of it, so the recording may end there: say on_divergence"
	}
	return "the model sees nothing of it, so the recording goes on"
}

// kindsOf lists the kinds where the parameter is their name.
func kindsOf(f *fault.Fault, param string) string {
	if param != "kind" || len(f.Kinds) == 0 {
		return ""
	}
	return ": " + strings.Join(f.Kinds, ", ")
}

// example is the fault at a place, with its first parameter.
func example(f *fault.Fault) *fault.Spec {
	s := &fault.Spec{Name: f.Name}
	switch {
	case f.Whole():
	case f.Side() == fault.SideTool:
		s.At = fault.Address{Tool: struck(f), Call: 1}
	default:
		s.At.Call = 2
		if f.Inside == fault.OnlyInside {
			s.At.Event = 3
		}
	}
	for _, p := range f.Takes {
		if p.Name == "kind" && len(f.Kinds) > 0 {
			s.Params.Kind = f.Kinds[len(f.Kinds)-1]
		}
		if p.Name == "effect" {
			s.Params.Effect = fault.After
		}
	}
	return s
}

// struck is a tool that the fault can strike: one that reads, a write, or a write
// that needs approval.
func struck(f *fault.Fault) string {
	for _, d := range []tool.Decl{{Name: "get_weather", Effect: tool.EffectRead}, {Name: "create_order"}} {
		if f.FitsTool(&d) == "" {
			return d.Name
		}
	}
	return "commit_order"
}

func scenarioExample(f *fault.Fault, s *fault.Spec) string {
	var b strings.Builder
	b.WriteString("    faults:\n      - fault: " + f.Name + "\n")
	switch {
	case s.At.Tool != "":
		fmt.Fprintf(&b, "        at: {tool: %s, call: %d}\n", s.At.Tool, s.At.Call)
	case s.At.Event != 0:
		fmt.Fprintf(&b, "        at: {call: %d, event: %d}\n", s.At.Call, s.At.Event)
	case s.At.Call != 0:
		fmt.Fprintf(&b, "        at: {call: %d}\n", s.At.Call)
	}
	if s.Params.Kind != "" {
		fmt.Fprintf(&b, "        with: {kind: %s}\n", s.Params.Kind)
	}
	if s.Params.Effect != "" {
		fmt.Fprintf(&b, "        with: {effect: %s}\n", s.Params.Effect)
	}
	if f.Seen {
		b.WriteString("        on_divergence: {accept: What happens until there is what this checks.}\n")
	}
	return b.String()
}

// faultFacts is a fault as --json prints it.
type faultFacts struct {
	Name    string       `json:"name"`
	Side    fault.Side   `json:"side"`
	Strikes string       `json:"strikes"`
	What    string       `json:"what"`
	Breaks  string       `json:"breaks"`
	Right   string       `json:"right"`
	Takes   []faultParam `json:"takes"`
	Kinds   []string     `json:"kinds,omitzero"`
	Retried bool         `json:"retried"` // a further attempt is a place, too
	Lasting bool         `json:"lasting"`
	Seen    bool         `json:"seen"` // by the model
	Inside  string       `json:"inside_a_stream"`
	FoundBy string       `json:"found_by,omitzero"`
	Example string       `json:"example"`
}

type faultParam struct {
	Name    string `json:"name"`
	Default string `json:"default"`
}

func faultsJSON(w io.Writer, faults []*fault.Fault) error {
	for _, f := range faults {
		facts := faultFacts{
			Name: f.Name, Side: f.Side(), Strikes: strikes(f), What: f.What, Breaks: f.Breaks, Right: f.Right, Kinds: f.Kinds,
			Retried: f.Retried, Lasting: f.Lasting, Seen: f.Seen, Inside: inside(f), FoundBy: f.FoundBy, Example: example(f).String(),
		}
		for _, p := range f.Takes {
			facts.Takes = append(facts.Takes, faultParam(p))
		}
		b, err := json.Marshal(&facts, json.FormatNilSliceAsNull(false), jsontext.EscapeForHTML(false))
		if err != nil {
			return failure.Errorf(failure.Internal, "the fault %s: %w", f.Name, err)
		}
		if _, err := fmt.Fprintf(w, "%s\n", b); err != nil {
			return failure.Errorf(failure.World, "writing the faults: %w", err)
		}
	}
	return nil
}

func inside(f *fault.Fault) string {
	switch f.Inside {
	case fault.MayInside:
		return "may"
	case fault.OnlyInside:
		return "only"
	default:
		return "no"
	}
}
