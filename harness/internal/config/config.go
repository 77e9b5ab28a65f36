// Package config reads the one file in which an operator sets what lies outside
// the code: scenarios/retake.yaml. Of the environment only secrets are taken,
// through the function that the caller passes in.
//
// Nothing is built in that goes stale: a model, its address and its price are
// known when the file says them.
package config

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire"
)

// Config is the effective configuration: what the file says, and the defaults
// for the rest. It is read-only and may be shared.
type Config struct {
	File string // as opened, for messages; it need not exist

	DefaultModels []string
	Models        []Model           // in the file's order
	ToolPrices    []ToolPrice       // in the file's order
	Servers       []scenario.Server // MCP servers that scenarios may run tools on, in the file's order
	Secrets       []Secret          // every secret that is declared, or that a model's key or a server names
	Limits        scenario.Limits
	Retries       Retries
	RealWaitCap   time.Duration
	Redact        Redact
	Rubric        string // path of the rubric's file, as the file says; "" is the built-in one
	Flags         map[string]bool
	KeepReports   int
	Lint          []Suppression // in the file's order
	Record        Record

	places yamlwalk.Places
	hidden *redact.Values
}

// Model describes a model version.
type Model struct {
	Name    string
	API     wire.API
	BaseURL string // "" is the API's public address
	Key     string // name of the secret; "" sends none
	Price   *Price // nil: not known, cost is not told
}

// Price is in US dollars for a million tokens. A nil figure is not known.
type Price struct {
	Input, Output, CacheRead, CacheWrite *float64
	AsOf                                 time.Time
}

// ToolPrice is what a tool costs, in US dollars, each time that it is reached.
type ToolPrice struct {
	Tool string
	Call float64
	AsOf time.Time
}

// Secret is a value from the environment. Its value is never shown.
type Secret struct {
	Name     string // of the environment variable
	Owner    string // who renews it
	RotateBy time.Time
	value    string
}

// Value is the secret itself; "" when it is not set.
func (s *Secret) Value() string { return s.value }

// Suppression is a finding of the linter that the project accepts.
type Suppression struct {
	Rule   string
	On     []string // none: anything
	Reason string   // "" where the file gives none, which the linter tells
}

// Retries are the policy for model calls.
type Retries struct {
	Attempts       int           // all tries together; default 3
	Backoff        time.Duration // before the second try, doubled after each further one; default 500ms
	MaxBackoff     time.Duration // default 30s
	RetryAfterCap  time.Duration // the longest wait that a provider may ask for; default 60s
	AttemptTimeout time.Duration // the longest that one try may take; default 10m
}

// Redact says what is taken out of all that is written, besides known secrets.
type Redact struct {
	Headers []string // names, any letter case
	JSON    []string // JSON pointers into bodies, * for any element
}

// Record says what recording may spend, and when a recording is stale.
type Record struct {
	Tokens   int64         // of one session; default 200,000
	Cost     float64       // US dollars of one session, where the prices are known; default 5
	Expires  time.Duration // the age at which a recording is stale; default 90 days
	Parallel int           // scenarios at once; default 1
}

// Defaults of what the file does not say.
const (
	DefaultAttempts       = 3
	DefaultBackoff        = 500 * time.Millisecond
	DefaultMaxBackoff     = 30 * time.Second
	DefaultRetryAfterCap  = time.Minute
	DefaultAttemptTimeout = 10 * time.Minute
	DefaultRealWaitCap    = 2 * time.Second
	DefaultKeepReports    = 10
	DefaultRecordTokens   = 200_000
	DefaultRecordCost     = 5.0
	DefaultExpires        = 90 * 24 * time.Hour
	DefaultRecordParallel = 1
)

// Load reads dir/retake.yaml. A file that is not there gives the defaults.
// getenv gives the environment's secrets, nil sets none. An error is like
// scenario.Load's.
func Load(dir string, getenv func(string) string) (*Config, error) {
	path := filepath.Join(dir, scenario.Config)
	text, err := file.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c := &Config{File: filepath.ToSlash(path)}
		c.defaults()
		return c, nil
	case err != nil:
		return nil, failure.Errorf(failure.World, "%s: %w", filepath.ToSlash(path), yamlwalk.Cause(err))
	}
	return parse(filepath.ToSlash(path), text, getenv)
}

func parse(name string, text []byte, getenv func(string) string) (*Config, error) {
	f := yamlwalk.Parse(name, text)
	var w written
	yamlwalk.Root(f, specKind, &w)
	if err := f.Err(); err != nil {
		return nil, err
	}
	c := w.config(f)
	if err := f.Err(); err != nil {
		return nil, err
	}
	c.defaults()
	c.readSecrets(getenv)
	return c, nil
}

func (c *Config) readSecrets(getenv func(string) string) {
	if getenv == nil {
		return
	}
	var set []redact.Secret
	for i := range c.Secrets {
		s := &c.Secrets[i]
		s.value = getenv(s.Name)
		set = append(set, redact.Secret{Name: s.Name, Value: s.value})
	}
	c.hidden = redact.New(set...)
}

func (c *Config) defaults() {
	set(&c.Limits.Iterations, scenario.DefaultIterations)
	set(&c.Limits.Parallel, scenario.DefaultParallel)
	set(&c.Retries.Attempts, DefaultAttempts)
	set(&c.Retries.Backoff, DefaultBackoff)
	set(&c.Retries.MaxBackoff, DefaultMaxBackoff)
	set(&c.Retries.RetryAfterCap, DefaultRetryAfterCap)
	set(&c.Retries.AttemptTimeout, DefaultAttemptTimeout)
	set(&c.RealWaitCap, DefaultRealWaitCap)
	set(&c.KeepReports, DefaultKeepReports)
	set(&c.Record.Tokens, DefaultRecordTokens)
	set(&c.Record.Cost, DefaultRecordCost)
	set(&c.Record.Expires, DefaultExpires)
	set(&c.Record.Parallel, DefaultRecordParallel)
}

func set[V comparable](v *V, to V) {
	var zero V
	if *v == zero {
		*v = to
	}
}

// Place is where the file says a part, written like secrets.NAME; of a part that
// it does not say, the nearest one around it.
func (c *Config) Place(part string) scenario.Place {
	p := c.places.Find(part)
	return scenario.Place{File: c.File, Line: p.Line, Column: p.Column}
}

// Model finds a model by its name.
func (c *Config) Model(name string) (*Model, bool) {
	i := slices.IndexFunc(c.Models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return nil, false
	}
	return &c.Models[i], true
}

// Hidden are the secrets that are set, for keeping them out of what is written.
func (c *Config) Hidden() *redact.Values { return c.hidden }

// Secret finds a secret by the name of its environment variable.
func (c *Config) Secret(name string) (*Secret, bool) {
	i := slices.IndexFunc(c.Secrets, func(s Secret) bool { return s.Name == name })
	if i < 0 {
		return nil, false
	}
	return &c.Secrets[i], true
}

// Names are the names of the models, in the file's order.
func (c *Config) Names() []string {
	names := make([]string, len(c.Models))
	for i := range c.Models {
		names[i] = c.Models[i].Name
	}
	return names
}

// Options are what scenarios take from the configuration. Where it describes no
// model at all, a scenario may name any.
func (c *Config) Options(cache *scenario.Cache) scenario.Options {
	o := scenario.Options{Models: c.DefaultModels, Limits: c.Limits, Servers: c.Servers, Cache: cache}
	if len(c.Models) > 0 {
		o.Known = c.Names()
	}
	return o
}

// config makes the Config of what is written.
func (w *written) config(f *yamlwalk.File) *Config {
	c := &Config{
		File: f.Name, Limits: w.limits, Retries: w.retries, RealWaitCap: w.realWaitCap,
		Redact: w.redact, Rubric: w.rubric, KeepReports: w.keepReports, Record: w.record, places: f.Places(),
	}
	for _, e := range w.models {
		m := e.Value
		c.Models = append(c.Models, Model{Name: e.Key, API: m.api, BaseURL: m.baseURL, Key: m.key, Price: m.price})
	}
	for _, e := range w.toolPrices {
		c.ToolPrices = append(c.ToolPrices, ToolPrice{Tool: e.Key, Call: e.Value.Call, AsOf: e.Value.AsOf})
	}
	for _, m := range w.defaultModels {
		if _, ok := c.Model(m.V); !ok {
			f.Failf(m.At, "unknown model %q%s; describe it under models", m.V, suggest.Hint(m.V, c.Names()))
		}
		c.DefaultModels = append(c.DefaultModels, m.V)
	}
	for _, e := range w.secrets {
		c.Secrets = append(c.Secrets, Secret{Name: e.Key, Owner: e.Value.owner, RotateBy: e.Value.rotateBy})
	}
	for _, s := range w.lint {
		c.Lint = append(c.Lint, Suppression{Rule: s.rule, On: s.on, Reason: s.reason})
	}
	for _, m := range c.Models {
		c.needSecret(m.Key)
	}
	for _, e := range w.servers {
		s := e.Value
		s.Name = e.Key
		c.Servers = append(c.Servers, s)
		for _, set := range slices.Concat(s.Env, s.Headers) {
			c.needSecret(set.Env)
		}
	}
	for _, e := range w.flags {
		if c.Flags == nil {
			c.Flags = map[string]bool{}
		}
		c.Flags[e.Key] = e.Value
	}
	return c
}

// needSecret makes a secret of a variable that is named elsewhere in the file.
func (c *Config) needSecret(name string) {
	if _, ok := c.Secret(name); !ok && name != "" {
		c.Secrets = append(c.Secrets, Secret{Name: name})
	}
}

// flagNames are the flags' names, sorted.
func (c *Config) flagNames() []string { return slices.Sorted(maps.Keys(c.Flags)) }
