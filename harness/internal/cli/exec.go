package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/gateway"
	"github.com/retake-harness/retake/harness/internal/config"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/internal/world"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire"
)

// foreignFlags are those of an agent that retake does not know.
type foreignFlags struct {
	scenario, cassette string
	record, replay     bool
	run                runFlags
	recording          recordFlags
}

func (f *foreignFlags) add(flags *pflag.FlagSet) {
	f.run.parallel, f.run.trials, f.run.github = 1, 1, true
	flags.StringVarP(&f.scenario, "scenario", "s", "", "the scenario that the agent is run in")
	flags.StringVar(&f.cassette, "cassette", "", "without --scenario: the recording that answers")
	flags.BoolVar(&f.replay, "replay", false, "answer from the recording (the default)")
	flags.BoolVar(&f.record, "record", false, "ask the live API and record the scenario; see: retake record")
	flags.StringSliceVarP(&f.run.models, "model", "m", nil, "only these model versions of the scenario")
	flags.StringArrayVarP(&f.run.faults, "fault", "f", nil, "under this fault: the id of a scenario's run, or NAME@key=value,…")
	flags.Var(&f.run.pace, "pace", "how fast recorded answers come: at once, as they were recorded, or N times as fast")
	flags.BoolVar(&f.run.accept, "accept", false, "take the transcript as the golden one")
	flags.BoolVar(&f.run.noReport, "no-report", false, "write no report")
	flags.BoolVarP(&f.recording.yes, "yes", "y", false, "with --record: do not ask before the first call that costs")
	flags.Var(&f.recording.tokens, "max-tokens", "with --record: how many tokens the session may use")
	flags.Var(&f.recording.cost, "max-cost", "with --record: how many US dollars it may cost")
}

func execCommand(sys IO, p *project) *cobra.Command {
	f := &foreignFlags{}
	cmd := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARG…]",
		Short: "Run an agent in any language against recorded or live models, and judge it",
		Long: `exec starts COMMAND as the agent. It finds in its environment where to ask the
model (ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GOOGLE_GEMINI_BASE_URL and others that
SDKs read): a server on loopback that answers from a recording, or with --record
from the live API. Keys are placeholders. The rest of the environment is left but
for the secrets that retake.yaml declares and the keys of models' providers, by
their usual names (ANTHROPIC_API_KEY, OPENROUTER_API_KEY, HF_TOKEN and their
likes); what else is secret, as a cloud's credentials, is taken out when it is
declared. NO_PROXY is added to.

With --scenario the run is that of the scenario: it is told the task (as its last
argument, or as agent: task says), and is judged like any run by the golden
transcript, expectations, contract and budget; a report is written. Without, COMMAND
brings its task with it, cassettes/exec/NAME.yaml answers, or --cassette, and the
contract judges; the transcript is printed.`,
		Example: `  retake exec --scenario travel/umbrella -- python3 agent.py
  retake exec --scenario travel/umbrella --record -- node agent.mjs
  retake exec --cassette recorded.yaml -- ./agent "Is it going to rain?"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("exec needs the agent's command, as in: retake exec --scenario NAME -- python3 agent.py")
			}
			return f.of(sys, p, strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0])), func(sc *scenario.Scenario, o world.Options) harness.Agent {
				a := &gateway.Agent{Command: args, Env: gateway.WithoutKeys(o.Public()), Stdout: sys.Stdout, Stderr: sys.Stderr}
				if sc.Agent != nil {
					a.Task, a.Answer = sc.Agent.Task, sc.Agent.Answer
				}
				return a
			})
		},
	}
	cmd.Flags().SetInterspersed(false) // what follows the command is its own
	f.add(cmd.Flags())
	return cmd
}

func gatewayCommand(sys IO, p *project) *cobra.Command {
	f := &foreignFlags{}
	var listen, token string
	cmd := &cobra.Command{
		Use:   "gateway",
		Short: "Serve recorded or live models to an agent that is started elsewhere, and judge it",
		Long: `gateway is exec without a command: it prints what the agent needs in its
environment, serves until it is interrupted (Ctrl-C), and judges then what was asked
of it, as exec does.

It listens on loopback. Whoever reaches another address could spend money while
something is recorded: --listen with one wants --token, which the agent has to send
as its API key.`,
		Example: `  retake gateway --scenario travel/umbrella
  retake gateway --cassette recorded.yaml --listen 127.0.0.1:4010`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := gateway.CheckListen(listen, token); err != nil {
				return err
			}
			done := sys.Context.Done()
			mild := sys
			mild.Context = context.WithoutCancel(sys.Context) // an interruption ends the agent, not the run
			return f.of(mild, p, "gateway", func(*scenario.Scenario, world.Options) harness.Agent {
				return &gateway.Serving{Listen: listen, Token: token, Done: done, Ready: func(s *gateway.Server) { export(sys, s) }}
			})
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&listen, "listen", "", "the address to listen at (default: a free port of 127.0.0.1)")
	cmd.Flags().StringVar(&token, "token", "", "what clients have to send as their API key")
	return cmd
}

// export prints the variables as a shell takes them.
func export(sys IO, s *gateway.Server) {
	for _, v := range s.Variables() {
		if name, value, _ := strings.Cut(v, "="); strings.EqualFold(name, "NO_PROXY") {
			v = fmt.Sprintf(`%s="${%s:+$%s,}%s"`, name, name, name, value)
		}
		_, _ = fmt.Fprintln(sys.Stdout, "export "+v)
	}
	_, _ = fmt.Fprintln(sys.Stderr, "serving at "+s.URL()+" until Ctrl-C")
}

// of runs the agent that agent makes. name is that of its recording where no
// scenario has one.
func (f *foreignFlags) of(sys IO, p *project, name string, agent func(*scenario.Scenario, world.Options) harness.Agent) error {
	switch {
	case f.record && f.replay:
		return fmt.Errorf("--record and --replay exclude each other")
	case f.scenario != "" && f.cassette != "":
		return fmt.Errorf("--cassette is for an agent without a scenario; a scenario's recording is %s", harness.ModelCassette("cassettes", f.scenario, "MODEL"))
	case f.scenario == "" && f.record:
		return fmt.Errorf("--record needs --scenario: what is recorded has a task, a model and a name; lay a scenario out with: retake init, and then: retake exec --record --scenario NAME -- COMMAND")
	case f.scenario == "":
		return f.bare(sys, p, name, agent)
	}
	s, err := openSuite(sys, p)
	if err != nil {
		return err
	}
	defer s.Close()
	options := s.World()
	s.Foreign = func(sc *scenario.Scenario) harness.Agent { return agent(sc, options) }
	if err := single(s, f.scenario); err != nil {
		return err
	}
	if f.record {
		f.recording.models, f.recording.faults = f.run.models, f.run.faults
		return recordIn(sys, s, &f.recording, []string{f.scenario})
	}
	return runIn(sys, s, &f.run, []string{f.scenario})
}

// single refuses a name of several scenarios, and a scenario of several turns.
func single(s *suite.Suite, name string) error {
	names, err := s.Select([]string{name})
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return failure.Errorf(failure.ScenarioInvalid, "%q names %d scenarios; an agent is run in one", name, len(names))
	}
	sc, err := s.Load(names[0])
	if err != nil {
		return err
	}
	if len(sc.Turns) > 1 {
		return failure.Errorf(failure.ScenarioInvalid, "%s: a program is given one task, and the scenario has %d turns", sc.Place("turns"), len(sc.Turns))
	}
	return nil
}

// bare runs an agent without a scenario.
func (f *foreignFlags) bare(sys IO, p *project, name string, agent func(*scenario.Scenario, world.Options) harness.Agent) error {
	c, err := suite.OpenConfig(p.dirs, sys.Getenv)
	if err != nil {
		return err
	}
	sys.hidden.values = c.Hidden()
	path := cmp.Or(f.cassette, filepath.Join(suite.Filled(p.dirs).Cassettes, "exec", name+".yaml"))
	file, err := cassette.Open(path)
	if err != nil {
		return err
	}
	sc := &scenario.Scenario{
		Name: "exec/" + name, File: filepath.ToSlash(path), Why: "what this recording shows", Turns: []scenario.Turn{{}}, Agent: &scenario.Agent{},
		Limits: scenario.Limits{Time: scenario.AgentTime},
	}
	options := suite.DrillOptions(c, p.dirs.Root, sys.Getenv).World
	defer options.Shared.Close()
	params := harness.Params{
		Scenario: sc, Model: file.Notes.Model, API: wire.AnthropicMessages, Cassette: path, Clock: clock.ModeReal,
		Agent: agent(sc, options), Secrets: c.Hidden(), RealWaitCap: c.RealWaitCap, BaseURL: baseURL(c, file.Notes.Model),
	}
	r := harness.Exec(sys.Context, params)
	_, _ = sys.Stdout.Write(r.Transcript) // safe on a terminal as it is
	out := newRunPrinter(sys, false, 1)
	out.result(r)
	out.progress.clear()
	if sys.Context.Err() != nil {
		return exitError(exitInterrupted)
	}
	if code := exitOfVerdict(r); code != exitPass {
		return exitError(code)
	}
	return nil
}

func baseURL(c *config.Config, model string) string {
	if m, ok := c.Model(model); ok && m.API == wire.AnthropicMessages {
		return m.BaseURL
	}
	return ""
}
