package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire"
)

// written is the configuration as it is written.
type written struct {
	defaultModels []yamlwalk.Located[string]
	models        []yamlwalk.Entry[model]
	toolPrices    []yamlwalk.Entry[ToolPrice]
	servers       []yamlwalk.Entry[scenario.Server]
	secrets       []yamlwalk.Entry[secret]
	limits        scenario.Limits
	retries       Retries
	realWaitCap   time.Duration
	redact        Redact
	rubric        string
	flags         []yamlwalk.Entry[bool]
	keepReports   int
	lint          []suppression
	record        Record
}

type model struct {
	api     wire.API
	baseURL string
	key     string
	price   *Price
}

type secret struct {
	owner    string
	rotateBy time.Time
}

var (
	envForm     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	flagForm    = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	headerForm  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	pointerForm = regexp.MustCompile(`^(/([^~/]|~[01])*)+$`)
)

// spec is the table of the configuration's file.
var spec = yamlwalk.Object[written]{
	Is: "a configuration",
	Fields: []yamlwalk.Field[written]{
		yamlwalk.F("default_models", "Models that are run where a scenario names none.", yamlwalk.OneOrMore(yamlwalk.At(yamlwalk.Text())), func(w *written) *[]yamlwalk.Located[string] { return &w.defaultModels }),
		yamlwalk.F("models", "Model versions by their names: what a scenario may run.", yamlwalk.Entries("models", nil, modelFields.Kind()), func(w *written) *[]yamlwalk.Entry[model] { return &w.models }),
		yamlwalk.F("tool_prices", "What tools cost, by their names. The cost of calls to others is not known.", yamlwalk.Entries("tool_prices", nil, toolPriceFields.Kind()), func(w *written) *[]yamlwalk.Entry[ToolPrice] { return &w.toolPrices }),
		yamlwalk.F("servers", "MCP servers by their names, for every scenario: what its tools may run on.", scenario.Servers(), func(w *written) *[]yamlwalk.Entry[scenario.Server] { return &w.servers }),
		yamlwalk.F("secrets", "Who owns each secret and when it has to be renewed, by the name of its environment variable. Never the secret itself.", yamlwalk.Entries("secrets", envForm, secretFields.Kind()), func(w *written) *[]yamlwalk.Entry[secret] { return &w.secrets }),
		yamlwalk.F("limits", "Budgets of a run where a scenario does not say its own.", scenario.LimitFields(), func(w *written) *scenario.Limits { return &w.limits }),
		yamlwalk.F("retries", "How failed model calls are repeated.", retryFields.Kind(), func(w *written) *Retries { return &w.retries }),
		yamlwalk.F("real_wait_cap", "The longest injected wait on a real clock; default 2s.", yamlwalk.Duration(), func(w *written) *time.Duration { return &w.realWaitCap }),
		yamlwalk.F("redact", "What is taken out of all that is written, besides known secrets.", redactFields.Kind(), func(w *written) *Redact { return &w.redact }),
		yamlwalk.F("rubric", "File of the questions that decide keep or revert, relative to this file. Left out, the built-in ones.", yamlwalk.Text(), func(w *written) *string { return &w.rubric }),
		yamlwalk.F("flags", "Feature flags.", yamlwalk.Entries("flags", flagForm, yamlwalk.Bool()), func(w *written) *[]yamlwalk.Entry[bool] { return &w.flags }),
		yamlwalk.F("reports", "What happens with old reports.", reportFields.Kind(), func(w *written) *int { return &w.keepReports }),
		yamlwalk.F("record", "How `retake record` spends, and when recordings are stale.", recordFields.Kind(), func(w *written) *Record { return &w.record }),
		yamlwalk.F("lint", "Findings of `retake lint` that are accepted, each with the reason.", yamlwalk.List(suppressionFields.Kind()), func(w *written) *[]suppression { return &w.lint }),
	},
}

// suppression is an accepted finding as it is written.
type suppression struct {
	rule, reason string
	on           []string
}

var suppressionFields = yamlwalk.Object[suppression]{
	Is: "a suppression",
	Fields: []yamlwalk.Field[suppression]{
		yamlwalk.Must("rule", "Name the rule, like tool/no-output-schema; * stands for anything.", yamlwalk.Text(), func(s *suppression) *string { return &s.rule }),
		yamlwalk.F("on", "What it is accepted for: a tool, a scenario, a server's tool or widget as SERVER/NAME; * stands for anything. Left out, everything.", yamlwalk.OneOrMore(yamlwalk.Text()), func(s *suppression) *[]string { return &s.on }),
		yamlwalk.F("reason", "Why it is accepted. Without it nothing is.", yamlwalk.Text(), func(s *suppression) *string { return &s.reason }),
	},
}

var modelFields = yamlwalk.Object[model]{
	Is: "a model",
	Fields: []yamlwalk.Field[model]{
		yamlwalk.Must("api", "Name the wire protocol.", scenario.APIs(), func(m *model) *wire.API { return &m.api }),
		yamlwalk.F("base_url", "Address of the API; default the provider's public one. A query (?api-version=…) goes with every request.", baseURL, func(m *model) *string { return &m.baseURL }),
		yamlwalk.F("key", "Where the key comes from: {env: NAME}.", key, func(m *model) *string { return &m.key }),
		yamlwalk.F("price", "US dollars for a million tokens.", yamlwalk.Optional(priceFields.Kind()), func(m *model) **Price { return &m.price }),
	},
}

// accessParameters are the parameters of a query by which providers take keys.
var accessParameters = []string{"key", "api_key", "api-key", "apikey", "access_token"}

var baseURL = yamlwalk.Then(yamlwalk.Text(), func(v yamlwalk.Value, s string) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		is := fmt.Sprintf(", is %q", s)
		if strings.ContainsAny(s, "@?") {
			is = "" // there may be a password or a key in it
		}
		v.Failf("must be an address like https://api.example.com%s", is)
	case u.User != nil:
		v.Failf("an address must not hold a password; put it into the environment and name it under key")
	case slices.ContainsFunc(accessParameters, u.Query().Has):
		v.Failf("an address must not hold a key; put it into the environment and name it under key")
	case u.Fragment != "":
		v.Failf("must be an address without #, is %q", s)
	}
})

// key never repeats what it is given: it may be the key itself.
var key = yamlwalk.Private(keyFields.Kind(), "must be {env: NAME}, with the name of an environment variable; never the key itself")

var keyFields = yamlwalk.Object[string]{
	Is: "a key",
	Fields: []yamlwalk.Field[string]{
		yamlwalk.Must("env", "Name the environment variable.", yamlwalk.Pattern("the name of an environment variable", envForm), func(s *string) *string { return s }),
	},
}

var dollars = yamlwalk.Optional(yamlwalk.Number(new(float64)))

var priceFields = yamlwalk.Object[Price]{
	Is: "a price",
	Fields: []yamlwalk.Field[Price]{
		yamlwalk.Must("input", "Dollars for a million input tokens.", dollars, func(p *Price) **float64 { return &p.Input }),
		yamlwalk.Must("output", "Dollars for a million output tokens, reasoning included.", dollars, func(p *Price) **float64 { return &p.Output }),
		yamlwalk.F("cache_read", "Dollars for a million tokens read from the cache.", dollars, func(p *Price) **float64 { return &p.CacheRead }),
		yamlwalk.F("cache_write", "Dollars for a million tokens written to the cache.", dollars, func(p *Price) **float64 { return &p.CacheWrite }),
		yamlwalk.Must("as_of", "Say on which day the price was looked up.", yamlwalk.Date(), func(p *Price) *time.Time { return &p.AsOf }),
	},
}

var toolPriceFields = yamlwalk.Object[ToolPrice]{
	Is: "a tool's price",
	Fields: []yamlwalk.Field[ToolPrice]{
		yamlwalk.Must("call", "US dollars for each time that the tool is reached, repeated tries included; 0 for a tool that is free.", yamlwalk.Number(new(float64)), func(p *ToolPrice) *float64 { return &p.Call }),
		yamlwalk.Must("as_of", "Say on which day the price was looked up.", yamlwalk.Date(), func(p *ToolPrice) *time.Time { return &p.AsOf }),
	},
}

var secretFields = yamlwalk.Object[secret]{
	Is: "a secret",
	Fields: []yamlwalk.Field[secret]{
		yamlwalk.Must("owner", "Name who renews it.", yamlwalk.Text(), func(s *secret) *string { return &s.owner }),
		yamlwalk.F("rotate_by", "The day by which it has to be renewed.", yamlwalk.Date(), func(s *secret) *time.Time { return &s.rotateBy }),
	},
}

var retryFields = yamlwalk.Object[Retries]{
	Is: "a retry policy",
	Fields: []yamlwalk.Field[Retries]{
		yamlwalk.F("attempts", "All tries together; default 3.", yamlwalk.Int(1), func(r *Retries) *int { return &r.Attempts }),
		yamlwalk.F("backoff", "Wait before the second try, doubled after each further one; default 500ms.", yamlwalk.Duration(), func(r *Retries) *time.Duration { return &r.Backoff }),
		yamlwalk.F("max_backoff", "The longest such wait; default 30s.", yamlwalk.Duration(), func(r *Retries) *time.Duration { return &r.MaxBackoff }),
		yamlwalk.F("retry_after_cap", "The longest wait that a provider may ask for; default 1m.", yamlwalk.Duration(), func(r *Retries) *time.Duration { return &r.RetryAfterCap }),
		yamlwalk.F("attempt_timeout", "The longest that one try may take; default 10m.", yamlwalk.Duration(), func(r *Retries) *time.Duration { return &r.AttemptTimeout }),
	},
}

var redactFields = yamlwalk.Object[Redact]{
	Is: "what to redact",
	Fields: []yamlwalk.Field[Redact]{
		yamlwalk.F("headers", "Names of headers.", yamlwalk.List(yamlwalk.Pattern("a header's name", headerForm)), func(r *Redact) *[]string { return &r.Headers }),
		yamlwalk.F("json", "JSON pointers into bodies; * stands for any member or element.", yamlwalk.List(yamlwalk.Pattern("a JSON pointer like /user/email", pointerForm)), func(r *Redact) *[]string { return &r.JSON }),
	},
}

var recordFields = yamlwalk.Object[Record]{
	Is: "how to record",
	Fields: []yamlwalk.Field[Record]{
		yamlwalk.F("tokens", "How many tokens one `retake record` may use; default 200000.", yamlwalk.Int[int64](1), func(r *Record) *int64 { return &r.Tokens }),
		yamlwalk.F("cost", "How many US dollars it may cost, where the models have prices; default 5.", yamlwalk.Number(new(0.01)), func(r *Record) *float64 { return &r.Cost }),
		yamlwalk.F("expires", "The age at which a recording is stale, like 30d; default 90d.", yamlwalk.Age(), func(r *Record) *time.Duration { return &r.Expires }),
		yamlwalk.F("parallel", "How many scenarios are recorded at once; default 1.", yamlwalk.Int(1), func(r *Record) *int { return &r.Parallel }),
	},
}

var reportFields = yamlwalk.Object[int]{
	Is: "reports",
	Fields: []yamlwalk.Field[int]{
		yamlwalk.F("keep", "How many reports are kept; default 10.", yamlwalk.Int(1), func(n *int) *int { return n }),
	},
}

var specKind = spec.Kind()

// JSONSchema describes the configuration's file for editors.
func JSONSchema() ([]byte, error) { return yamlwalk.Describe("The configuration of retake", specKind) }
