// Package schema compiles JSON Schemas and holds JSON text against them.
//
// The dialect is draft 2020-12 unless $schema names an older one. A schema
// stands for itself: references may point inside it, nothing is ever loaded
// from a file or the network. `format` is checked, not only noted, since who
// writes one for a tool's argument means it.
//
// Gemini's way to write types ("OBJECT", nullable) is understood.
//
// What a check finds is told field by field, in words that a model can act on
// and that name no machinery: `/city: is required`.
package schema

import (
	"crypto/sha256"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/retake-harness/retake/harness/failure"
)

// Schema is a compiled schema. It is read-only and may be shared. A nil
// *Schema allows everything.
type Schema struct {
	compiled  *jsonschema.Schema
	doc       any    // the schema itself, for what its errors point at
	quick     *quick // nil: the schema says more than it can hold
	unchecked []string
}

// Unchecked are the patterns of the schema that no check can be made with, in
// the order in which they were met: they use look-around or back-references.
// Every text passes them.
func (s *Schema) Unchecked() []string {
	if s == nil {
		return nil
	}
	return s.unchecked
}

// where is the address a schema is compiled under; it is never loaded.
const where = "retake:///schema"

// Compile compiles one schema. An error is a *CompileError of class
// scenario_invalid.
func Compile(raw jsontext.Value) (*Schema, error) {
	doc, err := decode(raw)
	if err != nil {
		return nil, failure.Wrap(failure.ScenarioInvalid, &CompileError{[]FieldError{{Message: err.Error()}}})
	}
	plainTypes(doc)
	s := &Schema{doc: doc}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(s.regexp)
	if err = c.AddResource(where, doc); err == nil {
		s.compiled, err = c.Compile(where)
	}
	if err != nil {
		return nil, failure.Wrap(failure.ScenarioInvalid, compileError(doc, err))
	}
	s.quick = quickForm(doc, s.compiled)
	return s, nil
}

// Cache compiles each schema once, by the hash of its text. The zero value is
// ready; it may be used by many goroutines, and keeps what it compiled.
type Cache struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]*entry
}

type entry struct {
	once   sync.Once
	schema *Schema
	err    error
}

// Compile is like the function Compile. A nil Cache keeps nothing.
func (c *Cache) Compile(raw jsontext.Value) (*Schema, error) {
	if c == nil {
		return Compile(raw)
	}
	e := c.entry(sha256.Sum256(raw))
	e.once.Do(func() { e.schema, e.err = Compile(raw) })
	return e.schema, e.err
}

func (c *Cache) entry(key [sha256.Size]byte) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		e = &entry{}
		if c.entries == nil {
			c.entries = map[[sha256.Size]byte]*entry{}
		}
		c.entries[key] = e
	}
	return e
}
