package failure

// Layer is where an error comes from, by who could have prevented it.
type Layer string

// The layers. Errors that are no part of the agent's world (a limit that was
// reached, something that was checked and did not hold, the harness's own) have
// none.
const (
	LayerNone           Layer = ""
	LayerValidation     Layer = "validation"     // what was asked for is not well formed
	LayerBusiness       Layer = "business"       // well formed, and the answer is no
	LayerInfrastructure Layer = "infrastructure" // a service behind the answer is down, slow or broken
	LayerPlatform       Layer = "platform"       // the way there and back: not reached, broken off, garbled
)

// Info is what is known of a class whatever the case.
type Info struct {
	Class Class
	Layer Layer
	// Retryable says that the same request may succeed a moment later. It does not
	// say that repeating it is safe: that is for the tool's key to tell.
	Retryable bool
	Part      Part // who has to act on it
}

// About tells what is known of a class. One that is not of the closed set is an
// agent's own word.
func About(c Class) Info {
	for _, i := range table {
		if i.Class == c {
			return i
		}
	}
	return Info{Class: c, Part: PartAgent}
}

// All is what is known of every class, in the order of their constants.
func All() []Info { return append([]Info(nil), table...) }

// table is the closed set. It is never changed.
var table = []Info{
	{CassetteMiss, LayerNone, false, PartAgent},
	{CassetteUnplayed, LayerNone, false, PartAgent},
	{CassetteInvalid, LayerNone, false, PartCassette},
	{ScenarioInvalid, LayerNone, false, PartScenario},
	{GoldenInvalid, LayerNone, false, PartHarness},
	{World, LayerNone, false, PartHarness},
	{Interrupted, LayerNone, false, PartHarness},
	{Internal, LayerNone, false, PartHarness},

	{Transport, LayerPlatform, true, PartModel},
	{Timeout, LayerInfrastructure, true, PartModel},
	{RateLimited, LayerInfrastructure, true, PartModel},
	{Overloaded, LayerInfrastructure, true, PartModel},
	{ServerError, LayerInfrastructure, true, PartModel},
	{ClientError, LayerValidation, false, PartAgent},
	{Unauthorized, LayerInfrastructure, false, PartModel},
	{Protocol, LayerPlatform, false, PartModel},
	{Truncated, LayerPlatform, false, PartModel},
	{Refused, LayerBusiness, false, PartModel},
	{Malformed, LayerValidation, false, PartModel},
	{EmptyResponse, LayerPlatform, false, PartModel},
	{UnknownStop, LayerPlatform, false, PartModel},
	{UnknownTool, LayerValidation, false, PartModel},
	{DuplicateCall, LayerValidation, false, PartModel},

	{IterationCap, LayerNone, false, PartAgent},
	{PauseCap, LayerNone, false, PartAgent},
	{RepeatedCall, LayerNone, false, PartAgent},
	{TokenBudget, LayerNone, false, PartAgent},
	{CallBudget, LayerNone, false, PartAgent},
	{TimeBudget, LayerNone, false, PartAgent},
	{PartialFailed, LayerNone, false, PartTool},
	{ToolErrorCap, LayerNone, false, PartTool},

	{ToolInvalidArguments, LayerValidation, false, PartModel},
	{ToolBlocked, LayerBusiness, false, PartModel},
	{ToolNotApproved, LayerBusiness, false, PartModel},
	{ToolFailed, LayerBusiness, false, PartTool},
	{ToolUnavailable, LayerInfrastructure, true, PartTool},
	{ToolTimeout, LayerInfrastructure, true, PartTool},
	{ToolBadOutput, LayerInfrastructure, false, PartTool},

	{Expectation, LayerNone, false, PartAgent},
	{Golden, LayerNone, false, PartAgent},
	{Contract, LayerNone, false, PartAgent},
	{Budget, LayerNone, false, PartAgent},
	{Agent, LayerNone, false, PartAgent},
	{Diverged, LayerNone, false, PartScenario},
	{Unjudged, LayerNone, false, PartScenario},
}
