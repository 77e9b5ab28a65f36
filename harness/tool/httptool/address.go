package httptool

import (
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

// template is an address with placeholders: literals and names by turns, a
// literal first and last.
type template struct {
	literals []string
	names    []string
}

// parse reads an address; the error is of class scenario_invalid.
func parse(address string) (*template, error) {
	t := &template{}
	rest := address
	for {
		before, after, found := strings.Cut(rest, "{")
		t.literals = append(t.literals, before)
		if !found {
			break
		}
		name, after, closed := strings.Cut(after, "}")
		if !closed || name == "" || strings.Contains(name, "{") {
			return nil, wrong(address, "a placeholder is written {name}, with the name of an argument")
		}
		t.names = append(t.names, name)
		rest = after
	}
	u, err := url.Parse(t.literals[0])
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, wrong(address, "it must begin like https://host/")
	case u.User != nil:
		return nil, failure.Errorf(failure.ScenarioInvalid, "the tool's address must not hold a password; send it as a header from the environment")
	case u.Path == "" && u.RawQuery == "" && len(t.names) > 0:
		return nil, wrong(address, "a placeholder cannot be part of the host; give it a path of its own")
	case strings.Contains(address, "#"):
		return nil, wrong(address, "an address with # is none of a request; drop that part")
	}
	return t, nil
}

func wrong(address, why string) error {
	return failure.Errorf(failure.ScenarioInvalid, "the tool's address %q: %s", address, why)
}

// fill puts arguments into the address and takes them away from the others.
func (t *template) fill(args *members) (string, *tool.Error) {
	var b strings.Builder
	inQuery := false
	for i, literal := range t.literals {
		b.WriteString(literal)
		inQuery = inQuery || strings.Contains(literal, "?")
		if i == len(t.names) {
			break
		}
		name := t.names[i]
		value := args.text(name)
		switch {
		case value == "" && !inQuery:
			return "", invalid("/" + name + ": is required")
		case inQuery:
			b.WriteString(url.QueryEscape(value))
		case value == "." || value == "..": // which servers take for steps in the path
			return "", invalid("/" + name + ": cannot be " + value)
		default:
			b.WriteString(url.PathEscape(value))
		}
		args.used[name] = true
	}
	return b.String(), nil
}

func invalid(message string) *tool.Error {
	return &tool.Error{Code: tool.CodeValidation, Message: message, Class: failure.ToolInvalidArguments}
}

// members are the arguments, in their order.
type members struct {
	raw   jsontext.Value
	names []string
	value map[string]jsontext.Value
	used  map[string]bool // in the address
}

func membersOf(args jsontext.Value) (*members, error) {
	m := &members{raw: args, used: map[string]bool{}}
	if err := json.Unmarshal(args, &m.value); err != nil {
		return nil, err
	}
	d := jsontext.NewDecoder(strings.NewReader(string(args)))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		m.names = append(m.names, name.String())
		if err := d.SkipValue(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// text is an argument as a text: a string itself, anything else as JSON, null and
// what is not there as nothing.
func (m *members) text(name string) string {
	v := m.value[name]
	switch v.Kind() {
	case jsontext.KindString:
		text, err := jsontext.AppendUnquote(nil, v)
		if err != nil {
			return string(v)
		}
		return string(text)
	case jsontext.KindNull, jsontext.KindInvalid:
		return ""
	default:
		return string(v)
	}
}

// rest is the object of what is not in the address, as it was written.
func (m *members) rest() string {
	if len(m.used) == 0 {
		return string(m.raw)
	}
	b := []byte{'{'}
	for _, name := range m.names {
		if m.used[name] {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, name) // it was read from JSON
		b = append(append(b, ':'), m.value[name]...)
	}
	return string(append(b, '}'))
}

// query is what is not in the address, as a query. An element of a list is a
// value of its own, as most servers read it.
func (m *members) query() string {
	var b strings.Builder
	add := func(name, value string) {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(name) + "=" + url.QueryEscape(value))
	}
	for _, name := range m.names {
		var list []jsontext.Value
		switch v := m.value[name]; {
		case m.used[name] || v.Kind() == 'n':
		case v.Kind() == '[' && json.Unmarshal(v, &list) == nil:
			for _, element := range list {
				add(name, (&members{value: map[string]jsontext.Value{"": element}}).text(""))
			}
		default:
			add(name, m.text(name))
		}
	}
	return b.String()
}
