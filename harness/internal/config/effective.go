package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// Setting is one effective value and where it came from.
type Setting struct {
	Key    string // models.claude-opus-4-8.api
	Value  string // as text; of a secret only "set" or "not set"
	Source string // file:line:column, default, or environment

	Secret   bool
	Owner    string // of a secret; "" when the file does not say
	RotateBy string // of a secret, like 2027-01-01; "" when the file does not say
}

// FromDefault and FromEnvironment are the sources besides a place in the file.
const (
	FromDefault     = "default"
	FromEnvironment = "environment"
)

// Effective lists all settings, in the order of the file's format.
func (c *Config) Effective() []Setting {
	e := effective{c: c}
	e.add("default_models", strings.Join(c.DefaultModels, ", "))
	for i := range c.Models {
		e.model(&c.Models[i])
	}
	for _, p := range c.ToolPrices {
		e.add("tool_prices."+p.Tool+".call", "$"+strconv.FormatFloat(p.Call, 'f', -1, 64))
		e.add("tool_prices."+p.Tool+".as_of", day(p.AsOf))
	}
	for i := range c.Servers {
		e.server(&c.Servers[i])
	}
	for i := range c.Secrets {
		e.secret(&c.Secrets[i])
	}
	e.limit("iterations", int64(c.Limits.Iterations))
	e.limit("tokens", c.Limits.Tokens)
	e.limit("tool_calls", int64(c.Limits.ToolCalls))
	if c.Limits.Time == 0 {
		e.add("limits.time", "none")
	} else {
		e.time("limits.time", c.Limits.Time)
	}
	e.limit("parallel", int64(c.Limits.Parallel))
	e.add("retries.attempts", strconv.Itoa(c.Retries.Attempts))
	e.time("retries.backoff", c.Retries.Backoff)
	e.time("retries.max_backoff", c.Retries.MaxBackoff)
	e.time("retries.retry_after_cap", c.Retries.RetryAfterCap)
	e.time("retries.attempt_timeout", c.Retries.AttemptTimeout)
	e.time("real_wait_cap", c.RealWaitCap)
	e.add("redact.headers", strings.Join(c.Redact.Headers, ", "))
	e.add("redact.json", strings.Join(c.Redact.JSON, ", "))
	e.add("rubric", orElse(c.Rubric, "built-in"))
	for _, name := range c.flagNames() {
		e.add("flags."+name, strconv.FormatBool(c.Flags[name]))
	}
	e.add("reports.keep", strconv.Itoa(c.KeepReports))
	e.add("record.tokens", strconv.FormatInt(c.Record.Tokens, 10))
	e.add("record.cost", "$"+strconv.FormatFloat(c.Record.Cost, 'f', -1, 64))
	e.add("record.expires", Age(c.Record.Expires))
	e.add("record.parallel", strconv.Itoa(c.Record.Parallel))
	for i, s := range c.Lint {
		e.add(fmt.Sprintf("lint[%d]", i), strings.TrimSpace(s.Rule+" "+strings.Join(s.On, ", ")))
	}
	return e.list
}

type effective struct {
	c    *Config
	list []Setting
}

func (e *effective) add(key, value string) {
	e.list = append(e.list, Setting{Key: key, Value: orElse(value, "none"), Source: e.c.source(key)})
}

func (e *effective) time(key string, d time.Duration) { e.add(key, d.String()) }

func (e *effective) limit(name string, n int64) {
	if n == 0 {
		e.add("limits."+name, "none")
		return
	}
	e.add("limits."+name, strconv.FormatInt(n, 10))
}

func (e *effective) model(m *Model) {
	key := "models." + m.Name
	e.add(key+".api", string(m.API))
	e.add(key+".base_url", orElse(m.BaseURL, "the provider's"))
	e.add(key+".key.env", m.Key)
	if m.Price == nil {
		e.add(key+".price", "not known")
		return
	}
	for _, p := range []struct {
		name string
		n    *float64
	}{{"input", m.Price.Input}, {"output", m.Price.Output}, {"cache_read", m.Price.CacheRead}, {"cache_write", m.Price.CacheWrite}} {
		value := "not known"
		if p.n != nil {
			value = "$" + strconv.FormatFloat(*p.n, 'f', -1, 64) + " a million"
		}
		e.add(key+".price."+p.name, value)
	}
	e.add(key+".price.as_of", day(m.Price.AsOf))
}

// server shows where a server is, and of what it is given the names alone.
func (e *effective) server(s *scenario.Server) {
	key := "servers." + s.Name
	if s.URL != "" {
		e.add(key+".url", s.URL)
		e.add(key+".headers", names(s.Headers))
	} else {
		e.add(key+".command", strings.Join(s.Command, " "))
		e.add(key+".env", names(s.Env))
	}
	if s.Timeout != 0 {
		e.time(key+".timeout", s.Timeout)
		return
	}
	e.add(key+".timeout", "30s")
}

func names(settings []tool.Setting) string {
	out := make([]string, len(settings))
	for i, s := range settings {
		out[i] = s.Name
	}
	return strings.Join(out, ", ")
}

func (e *effective) secret(s *Secret) {
	set := Setting{Key: "secrets." + s.Name, Value: "not set", Source: FromEnvironment, Secret: true, Owner: s.Owner, RotateBy: day(s.RotateBy)}
	if s.value != "" {
		set.Value = "set"
	}
	e.list = append(e.list, set)
}

// source says where a key's value came from.
func (c *Config) source(key string) string {
	if !c.places.Has(key) {
		return FromDefault
	}
	p := c.places.Find(key)
	return fmt.Sprintf("%s:%d:%d", c.File, p.Line, p.Column)
}

// Age spells a length of time in days where it is whole ones: 90d.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return d.String()
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
