package scenario

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/wire"
)

// written is a scenario as it is written; positions stay where a later check needs
// them.
type written struct {
	why, owner, rollback string
	labels               []string
	inputs               []yamlwalk.Entry[string]
	system               []text
	opening              []message
	task                 text
	turns                []turnWritten
	model                text
	models               []text
	agent                *Agent
	api                  wire.API
	stream               bool
	maxTokens            int
	params               []yamlwalk.Entry[yamlwalk.Tree]
	toolsFrom            text
	tools                toolsWritten
	servers              []yamlwalk.Entry[Server]
	toolChoice           choice
	parallel             *bool
	guard                []block
	approvals            []approval
	effects              []yamlwalk.Entry[WrittenProbe]
	principals           []yamlwalk.Entry[Principal]
	as                   text
	limits               Limits
	giveUp               GiveUp
	onPartial            OnPartial
	replay               Replay
	expect               expect
	seed                 *int64
	expires              time.Duration
	variants             []variant
}

type text = yamlwalk.Located[string]

// turnWritten is a turn, and in whose name it is.
type turnWritten struct{ user, as text }

type message struct{ system, developer, user, assistant text }

type choice struct {
	mode wire.ChoiceMode
	tool text
	at   yamlwalk.Pos
}

type block struct {
	tool   text
	reason string
}

type expect struct {
	outcome    string
	stop       wire.Stop
	stopRaw    string
	iterations *Range
	toolCalls  *Range
	calls      *calls
	answer     answer
	effects    []yamlwalk.Entry[int]
	tokens     *int64
	cost       *float64
	latency    *time.Duration
	golden     *bool
	attempts   *Range
	told       []string
	breaches   []string
	judges     []judge
}

type answer struct {
	equals   *string
	contains []string
	regexp   *regexp.Regexp
	schema   *yamlwalk.Tree
}

// Forms of names.
var (
	labelForm   = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)
	inputForm   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	toolForm    = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,128}$`)
	pointerForm = regexp.MustCompile(`^(/([^~/]|~[01])*)+$`)
	headerForm  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)
)

// outcomes are the ways a run may be expected to end.
var outcomes = []string{
	"completed",
	string(failure.Truncated), string(failure.Refused), string(failure.Malformed),
	string(failure.EmptyResponse), string(failure.UnknownStop), string(failure.DuplicateCall),
	string(failure.IterationCap), string(failure.PauseCap), string(failure.RepeatedCall),
	string(failure.TokenBudget), string(failure.CallBudget), string(failure.TimeBudget),
	string(failure.PartialFailed),
	string(failure.Transport), string(failure.Timeout), string(failure.RateLimited),
	string(failure.Overloaded), string(failure.ServerError), string(failure.ClientError),
	string(failure.Unauthorized), string(failure.Protocol),
	string(failure.ToolInvalidArguments), string(failure.ToolBlocked), string(failure.ToolNotApproved),
	string(failure.ToolFailed), string(failure.ToolUnavailable), string(failure.ToolTimeout),
	string(failure.ToolBadOutput), string(failure.UnknownTool), string(failure.Agent),
}

// spec is the table of a scenario file.
var spec = yamlwalk.Object[written]{
	Is: "a scenario",
	Fields: []yamlwalk.Field[written]{
		yamlwalk.Must("why", "Say what this scenario is there to show. One behaviour, in a sentence.", yamlwalk.Text(), func(f *written) *string { return &f.why }),
		yamlwalk.Must("owner", "Name the person or team that acts when it fails.", yamlwalk.Text(), func(f *written) *string { return &f.owner }),
		yamlwalk.F("labels", "Words to select scenarios by.", yamlwalk.List(yamlwalk.Pattern("a label of letters, digits and _ . : -", labelForm)), func(f *written) *[]string { return &f.labels }),
		yamlwalk.F("rollback", "How to go back when the change under test has to be reverted.", yamlwalk.Text(), func(f *written) *string { return &f.rollback }),
		yamlwalk.F("inputs", "Declared inputs. ${name} in system, opening, task and turns is replaced by the value; $${ is a literal ${.", yamlwalk.Entries("texts", inputForm, yamlwalk.Written()), func(f *written) *[]yamlwalk.Entry[string] { return &f.inputs }),
		yamlwalk.F("system", "The system text, or a list of them.", yamlwalk.OneOrMore(yamlwalk.At(yamlwalk.Text())), func(f *written) *[]text { return &f.system }),
		yamlwalk.F("opening", "Messages before the first turn, each by whom: system, developer, user or assistant.", yamlwalk.List(opening.Kind()), func(f *written) *[]message { return &f.opening }),
		yamlwalk.F("task", "What the user asks; turns is for more than one turn.", yamlwalk.At(yamlwalk.Text()), func(f *written) *text { return &f.task }),
		yamlwalk.F("turns", "What the user says, turn by turn.", yamlwalk.OneOrMore(turn), func(f *written) *[]turnWritten { return &f.turns }),
		yamlwalk.F("model", "The model version to run. Without model and models, the configuration's default_models.", yamlwalk.At(yamlwalk.Text()), func(f *written) *text { return &f.model }),
		yamlwalk.F("models", "Model versions to run, one after the other.", yamlwalk.OneOrMore(yamlwalk.At(yamlwalk.Text())), func(f *written) *[]text { return &f.models }),
		yamlwalk.F("agent", "A program that is the agent, in the place of the reference loop. It asks the model at the address that its environment says (ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GOOGLE_GEMINI_BASE_URL).", yamlwalk.Optional(agentFields.Kind()), func(f *written) **Agent { return &f.agent }),
		yamlwalk.F("api", "The wire protocol, where it is not the one that the configuration gives the model.", APIs(), func(f *written) *wire.API { return &f.api }),
		yamlwalk.F("stream", "Asks for the answer as a stream.", yamlwalk.Bool(), func(f *written) *bool { return &f.stream }),
		yamlwalk.F("max_tokens", "Limit of one answer. Left out, none is sent.", yamlwalk.Int(1), func(f *written) *int { return &f.maxTokens }),
		yamlwalk.F("params", "Further top-level fields of the request, passed through as written.", yamlwalk.Entries("request fields", nil, yamlwalk.JSON()), func(f *written) *[]yamlwalk.Entry[yamlwalk.Tree] { return &f.params }),
		yamlwalk.F("tools_from", "The shared file of tools, relative to the scenario's folder. Left out, tools.yaml beside the scenario if there is one.", yamlwalk.At(yamlwalk.Text()), func(f *written) *text { return &f.toolsFrom }),
		yamlwalk.F("tools", "Tools, each a name from the shared file or a declaration; or {from: name} for those of an MCP server. Left out, all of the shared file.", toolList, func(f *written) *toolsWritten { return &f.tools }),
		yamlwalk.F("servers", "MCP servers by their names, besides those of retake.yaml.", Servers(), func(f *written) *[]yamlwalk.Entry[Server] { return &f.servers }),
		yamlwalk.F("tool_choice", "How freely the model may call: auto, any, none, or {tool: name}.", toolChoice, func(f *written) *choice { return &f.toolChoice }),
		yamlwalk.F("parallel_tool_calls", "Allows several calls in one turn; default true.", yamlwalk.Optional(yamlwalk.Bool()), func(f *written) **bool { return &f.parallel }),
		yamlwalk.F("guard", "Tools that are refused by policy, each with the reason.", yamlwalk.List(guard.Kind()), func(f *written) *[]block { return &f.guard }),
		yamlwalk.F("approvals", "What a person decides about calls of tools that say approval: true. Without an entry nobody approves, unless a person is there to be asked.", yamlwalk.List(approvalFields.Kind()), func(f *written) *[]approval { return &f.approvals }),
		yamlwalk.F("effects", "How the effects of tools that really run are counted, by the tool: a query on its database, a tool that reads, an address. Left out, their calls are counted.", yamlwalk.Entries("probes", nil, ProbeFields()), func(f *written) *[]yamlwalk.Entry[WrittenProbe] { return &f.effects }),
		yamlwalk.F("principals", "In whose names tools are called, by their names.", Principals(), func(f *written) *[]yamlwalk.Entry[Principal] { return &f.principals }),
		yamlwalk.F("as", "The principal of each turn that names none.", yamlwalk.At(yamlwalk.Text()), func(f *written) *text { return &f.as }),
		yamlwalk.F("limits", "Budgets of a run. Left out, the configuration's.", LimitFields(), func(f *written) *Limits { return &f.limits }),
		yamlwalk.F("give_up", "When the loop stops by itself.", giveUp.Kind(), func(f *written) *GiveUp { return &f.giveUp }),
		yamlwalk.F("on_partial", "What happens when one of several parallel calls fails: report tells the model and goes on, stop ends the run.", yamlwalk.Enum(PartialReport, PartialStop), func(f *written) *OnPartial { return &f.onPartial }),
		yamlwalk.F("replay", "How requests find their recordings.", replay.Kind(), func(f *written) *Replay { return &f.replay }),
		yamlwalk.F("expect", "What must hold at the end.", expectation.Kind(), func(f *written) *expect { return &f.expect }),
		yamlwalk.F("seed", "What the chance of faults is drawn from; default 1.", yamlwalk.Optional(yamlwalk.Int[int64](0)), func(f *written) **int64 { return &f.seed }),
		yamlwalk.F("expires", "The age at which its recordings are stale, like 30d. Left out, the configuration's.", yamlwalk.Age(), func(f *written) *time.Duration { return &f.expires }),
		yamlwalk.F("faults", "Runs under faults, beside the one without; each entry is one.", yamlwalk.List(variantFields.Kind()), func(f *written) *[]variant { return &f.variants }),
	},
	ExactlyOne: [][]string{{"task", "turns"}},
	AtMostOne:  [][]string{{"model", "models"}},
}

// APIs is the kind of a wire protocol's name.
func APIs() yamlwalk.Kind[wire.API] {
	return yamlwalk.Enum(wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses, wire.GeminiGenerate)
}

var turn = yamlwalk.Either("a text or {user: text}",
	yamlwalk.Map(yamlwalk.At(yamlwalk.Text()), func(_ yamlwalk.Value, said text) (turnWritten, bool) { return turnWritten{user: said}, true }),
	yamlwalk.Object[turnWritten]{
		Is: "a turn",
		Fields: []yamlwalk.Field[turnWritten]{
			yamlwalk.Must("user", "What the user says.", yamlwalk.At(yamlwalk.Text()), func(t *turnWritten) *text { return &t.user }),
			yamlwalk.F("as", "The principal in whose name the tools of this turn are called.", yamlwalk.At(yamlwalk.Text()), func(t *turnWritten) *text { return &t.as }),
		},
	}.Kind())

var opening = yamlwalk.Object[message]{
	Is: "a message",
	Fields: []yamlwalk.Field[message]{
		yamlwalk.F("system", "What the system says.", yamlwalk.At(yamlwalk.Text()), func(m *message) *text { return &m.system }),
		yamlwalk.F("developer", "What the developer says, in the APIs that have the role.", yamlwalk.At(yamlwalk.Text()), func(m *message) *text { return &m.developer }),
		yamlwalk.F("user", "What the user says.", yamlwalk.At(yamlwalk.Text()), func(m *message) *text { return &m.user }),
		yamlwalk.F("assistant", "What the model says.", yamlwalk.At(yamlwalk.Text()), func(m *message) *text { return &m.assistant }),
	},
	ExactlyOne: [][]string{{"system", "developer", "user", "assistant"}},
}

var toolChoice = yamlwalk.Either("auto, any, none or {tool: name}",
	yamlwalk.Map(yamlwalk.Enum(wire.ChoiceAuto, wire.ChoiceAny, wire.ChoiceNone), func(v yamlwalk.Value, m wire.ChoiceMode) (choice, bool) {
		return choice{mode: m, at: v.Pos()}, true
	}),
	yamlwalk.Object[choice]{
		Is: "a tool choice",
		Fields: []yamlwalk.Field[choice]{
			yamlwalk.Must("tool", "Name the one tool that must be called.", yamlwalk.At(yamlwalk.Text()), func(c *choice) *text { return &c.tool }),
		},
		Check: func(v yamlwalk.Value, c *choice) { c.mode, c.at = wire.ChoiceTool, v.Pos() },
	}.Kind())

var guard = yamlwalk.Object[block]{
	Is: "a block",
	Fields: []yamlwalk.Field[block]{
		yamlwalk.Must("tool", "Name the tool.", yamlwalk.At(yamlwalk.Text()), func(b *block) *text { return &b.tool }),
		yamlwalk.Must("reason", "Say why, as the model is told.", yamlwalk.Text(), func(b *block) *string { return &b.reason }),
	},
}

// LimitFields is the kind of a set of limits; the configuration has it too.
func LimitFields() yamlwalk.Kind[Limits] {
	return yamlwalk.Object[Limits]{
		Is: "limits",
		Fields: []yamlwalk.Field[Limits]{
			yamlwalk.F("iterations", "Model turns; default 10.", yamlwalk.Int(1), func(l *Limits) *int { return &l.Iterations }),
			yamlwalk.F("tokens", "Tokens of all turns together; default no limit.", yamlwalk.Int[int64](1), func(l *Limits) *int64 { return &l.Tokens }),
			yamlwalk.F("tool_calls", "Tool calls; default no limit.", yamlwalk.Int(1), func(l *Limits) *int { return &l.ToolCalls }),
			yamlwalk.F("time", "Time of the whole run on its own clock; default no limit.", yamlwalk.Duration(), func(l *Limits) *time.Duration { return &l.Time }),
			yamlwalk.F("parallel", "Tool calls at once; default 8.", yamlwalk.Int(1), func(l *Limits) *int { return &l.Parallel }),
		},
	}.Kind()
}

var giveUp = yamlwalk.Object[GiveUp]{
	Is: "stop criteria",
	Fields: []yamlwalk.Field[GiveUp]{
		yamlwalk.F("repeated_calls", "The same call with the same arguments this often; default 3.", yamlwalk.Int(1), func(g *GiveUp) *int { return &g.RepeatedCalls }),
		yamlwalk.F("pauses", "Continuations of a paused turn; default 5.", yamlwalk.Int(1), func(g *GiveUp) *int { return &g.Pauses }),
		yamlwalk.F("tool_errors", "Tool errors in a run; default no limit.", yamlwalk.Int(1), func(g *GiveUp) *int { return &g.ToolErrors }),
	},
}

var replay = yamlwalk.Object[Replay]{
	Is: "a replay mode",
	Fields: []yamlwalk.Field[Replay]{
		yamlwalk.F("match", "normalised compares what a request means, strict its body as JSON, sequence only counts.", yamlwalk.Enum(MatchNormalised, MatchStrict, MatchSequence), func(r *Replay) *Match { return &r.Match }),
		yamlwalk.F("ignore", "JSON pointers into the request's body that do not count; * stands for any member or element.", yamlwalk.List(yamlwalk.Pattern("a JSON pointer like /metadata/user_id", pointerForm)), func(r *Replay) *[]string { return &r.Ignore }),
		yamlwalk.F("headers", "Names of request headers that count too, such as anthropic-beta; none by default.", yamlwalk.List(yamlwalk.Pattern("a header name like anthropic-beta", headerForm)), func(r *Replay) *[]string { return &r.Headers }),
	},
}

var expectation = yamlwalk.Object[expect]{
	Is: "expectations",
	Fields: []yamlwalk.Field[expect]{
		yamlwalk.F("outcome", "How the run must end: completed (default), or the failure class.", yamlwalk.Enum(outcomes...), func(e *expect) *string { return &e.outcome }),
		yamlwalk.F("stop", "The last turn's stop reason, in neutral words.", yamlwalk.Enum(wire.StopDone, wire.StopToolCalls, wire.StopTruncated, wire.StopPaused, wire.StopRefused, wire.StopMalformed, wire.StopUnknown), func(e *expect) *wire.Stop { return &e.stop }),
		yamlwalk.F("stop_raw", "The last turn's stop reason, in the provider's words.", yamlwalk.Text(), func(e *expect) *string { return &e.stopRaw }),
		yamlwalk.F("iterations", "Model turns: a number, or {min, max}.", counts, func(e *expect) **Range { return &e.iterations }),
		yamlwalk.F("tool_calls", "Tool calls: a number, or {min, max}.", counts, func(e *expect) **Range { return &e.toolCalls }),
		yamlwalk.F("calls", "The tool calls: a list in order, or {match, list}.", yamlwalk.Optional(expectedCalls), func(e *expect) **calls { return &e.calls }),
		yamlwalk.F("answer", "Checks of the final text.", answerFields.Kind(), func(e *expect) *answer { return &e.answer }),
		yamlwalk.F("effects", "How many effects each tool has: by its probe under effects, else by the calls that reached it.", yamlwalk.Entries("numbers of effects", nil, yamlwalk.Int(0)), func(e *expect) *[]yamlwalk.Entry[int] { return &e.effects }),
		yamlwalk.F("tokens", "Tokens of all turns together, at most.", atMost(yamlwalk.Int[int64](0)), func(e *expect) **int64 { return &e.tokens }),
		yamlwalk.F("cost", "Cost in US dollars, at most.", atMost(yamlwalk.Number(new(float64))), func(e *expect) **float64 { return &e.cost }),
		yamlwalk.F("latency", "Time on the run's clock, at most.", atMost(yamlwalk.Duration()), func(e *expect) **time.Duration { return &e.latency }),
		yamlwalk.F("golden", "Compares the transcript with the golden file; default true, under faults false.", yamlwalk.Optional(yamlwalk.Bool()), func(e *expect) **bool { return &e.golden }),
		yamlwalk.F("attempts", "HTTP attempts at the model: a number, or {min, max}.", counts, func(e *expect) **Range { return &e.attempts }),
		yamlwalk.F("told", "A text that a tool result shown to the model contains, or a list of them.", yamlwalk.OneOrMore(yamlwalk.WrittenSomething("every result has that")), func(e *expect) *[]string { return &e.told }),
		yamlwalk.F("breaches", "Rules of the contract that must be breached, and no others: [W6]. W10, a fault that never strikes, always fails.", yamlwalk.List(yamlwalk.Name("a rule", ruleNames(), unknownRule)), func(e *expect) *[]string { return &e.breaches }),
		yamlwalk.F("judge", "Questions about the run that a model answers; its answers are recorded, too.", yamlwalk.List(judgeFields.Kind()), func(e *expect) *[]judge { return &e.judges }),
	},
}

// unstruck is the rule that nobody can expect to be breached.
const unstruck = "W10"

// ruleNames are the rules whose breach may be expected.
func ruleNames() []string {
	var out []string
	for _, r := range contract.Rules() {
		if r != unstruck {
			out = append(out, string(r))
		}
	}
	return out
}

func unknownRule(word string) string {
	if word == unstruck {
		return "W10 cannot be expected: a fault that never strikes always fails its run; give the fault a place that the run comes to, or drop it"
	}
	rules := ruleNames()
	return fmt.Sprintf("must be one of %s, is %q%s", strings.Join(rules, ", "), word, suggest.Hint(word, rules))
}

// atMost is {max: …}.
func atMost[V any](k yamlwalk.Kind[V]) yamlwalk.Kind[*V] {
	return yamlwalk.Optional(yamlwalk.Object[V]{
		Is: "a bound",
		Fields: []yamlwalk.Field[V]{
			yamlwalk.Must("max", "The most that is allowed.", k, func(v *V) *V { return v }),
		},
	}.Kind())
}

var answerFields = yamlwalk.Object[answer]{
	Is: "checks of the answer", Empty: "checks nothing; give one of equals, contains, regexp, schema, or drop the field",
	Fields: []yamlwalk.Field[answer]{
		yamlwalk.F("equals", "The whole text.", yamlwalk.Optional(yamlwalk.Written()), func(a *answer) **string { return &a.equals }),
		yamlwalk.F("contains", "A text in it, or a list of them.", yamlwalk.OneOrMore(yamlwalk.WrittenSomething("every answer has that")), func(a *answer) *[]string { return &a.contains }),
		yamlwalk.F("regexp", "A regular expression (Go's syntax) that it matches somewhere.", expression, func(a *answer) **regexp.Regexp { return &a.regexp }),
		yamlwalk.F("schema", "A JSON Schema that the text, read as JSON, fits.", yamlwalk.Optional(yamlwalk.JSONObject()), func(a *answer) **yamlwalk.Tree { return &a.schema }),
	},
}

var (
	specKind     = spec.Kind()
	toolFileKind = toolFile.Kind()
)

// JSONSchema describes a scenario file for editors.
func JSONSchema() ([]byte, error) { return yamlwalk.Describe("A retake scenario", specKind) }

// ToolsJSONSchema describes a shared file of tools for editors.
func ToolsJSONSchema() ([]byte, error) {
	return yamlwalk.Describe("Tools of retake scenarios", toolFileKind)
}
