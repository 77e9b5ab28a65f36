package giftgenius

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//go:embed declarations
var declarations embed.FS

// Tool is one of the shop's tools: its declaration, as clients read it, and what
// it does.
type Tool struct {
	mcp.Tool
	input rules
	call  call
}

// call does what a tool does. Its arguments fit the tool's schema.
type call func(ctx context.Context, tenant string, args json.RawMessage) (json.RawMessage, error)

// Tools are the shop's tools, planted ones last.
func (s *Shop) Tools() []*Tool { return s.tools }

// Tool is the tool of that name, or nil.
func (s *Shop) Tool(name string) *Tool {
	for _, t := range s.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (s *Shop) declare() ([]*Tool, error) {
	calls := []struct {
		name string
		call call
	}{
		{"suggest_gifts", with(s.suggest)},
		{"create_checkout_session", with(s.checkout)},
		{"prepare_order", with(s.prepare)},
		{"commit_order", with(s.commit)},
		{"list_orders", with(s.listOrders)},
		{"send_gift_cards", with(s.sendCards)},
	}
	var out []*Tool
	for _, c := range calls {
		t, err := declared(c.name, c.call)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return s.plantTools(out)
}

func declared(name string, do call) (*Tool, error) {
	text, err := declarations.ReadFile("declarations/" + name + ".json")
	if err != nil {
		return nil, err
	}
	t := &Tool{call: do}
	if err := json.Unmarshal(text, &t.Tool); err != nil {
		return nil, fmt.Errorf("the declaration of %s: %w", name, err)
	}
	if t.input, err = newRules(t.InputSchema); err != nil {
		return nil, fmt.Errorf("the declaration of %s: %w", name, err)
	}
	return t, nil
}

// with makes a call of a func over typed arguments and results.
func with[Args, Result any](do func(ctx context.Context, tenant string, args Args) (Result, error)) call {
	return func(ctx context.Context, tenant string, raw json.RawMessage) (json.RawMessage, error) {
		var args Args
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, err
		}
		result, err := do(ctx, tenant, args)
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	}
}

// rules are an input schema, property by property, so that a message can say
// which argument breaks which.
type rules struct {
	schema     *jsonschema.Schema
	properties map[string]*jsonschema.Resolved
}

func newRules(declared any) (rules, error) {
	text, err := json.Marshal(declared)
	if err != nil {
		return rules{}, err
	}
	r := rules{schema: &jsonschema.Schema{}, properties: map[string]*jsonschema.Resolved{}}
	if err := json.Unmarshal(text, r.schema); err != nil {
		return rules{}, err
	}
	for name, p := range r.schema.Properties {
		if r.properties[name], err = p.Resolve(nil); err != nil {
			return rules{}, fmt.Errorf("argument %q: %w", name, err)
		}
	}
	return r, nil
}

// check gives the arguments in their plain form (1.0 as 1), or says which one
// does not do.
func (t *Tool) check(raw json.RawMessage) (json.RawMessage, error) {
	args := map[string]any{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil || args == nil {
			return nil, refusal(CodeValidation, "the arguments are no JSON object")
		}
	}
	for _, name := range t.input.schema.Required {
		if _, ok := args[name]; !ok {
			return nil, refusal(CodeValidation, "the argument %q is missing", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		value, p := args[name], t.input.properties[name]
		if p == nil && t.input.schema.AdditionalProperties == nil {
			continue // a schema that allows anything
		}
		if p == nil {
			return nil, refusal(CodeValidation, "there is no argument %.40q", name)
		}
		if err := p.Validate(value); err != nil {
			return nil, &Error{Code: CodeValidation, Message: fmt.Sprintf("the argument %q must be %s", name, describe(p.Schema())), Detail: err}
		}
	}
	return json.Marshal(args)
}

// describe says in words what a value must be.
func describe(s *jsonschema.Schema) string {
	switch {
	case s.Enum != nil:
		return fmt.Sprintf("one of %q", s.Enum)
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("%s from %v to %v", article(s.Type), *s.Minimum, *s.Maximum)
	case s.Pattern != "" && s.MinLength != nil && s.MaxLength != nil:
		return fmt.Sprintf("a string of %d to %d characters that matches %s", *s.MinLength, *s.MaxLength, s.Pattern)
	case s.MinLength != nil && s.MaxLength != nil:
		return fmt.Sprintf("a string of %d to %d characters", *s.MinLength, *s.MaxLength)
	case s.MinItems != nil && s.MaxItems != nil:
		return fmt.Sprintf("an array of %d to %d items, each as the schema says", *s.MinItems, *s.MaxItems)
	}
	return article(s.Type)
}

func article(kind string) string {
	switch kind {
	case "integer", "object", "array":
		return "an " + kind
	}
	return "a " + kind
}
