package yamlwalk

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// flow reads [ … ] or { … } on one line, and gives the place behind it.
func (s *subset) flow(from int) (*yaml.Node, int) {
	if s.depth++; s.depth > maxSubsetDepth {
		return s.giveUp(), from
	}
	defer func() { s.depth-- }()
	kind, end := yaml.SequenceNode, byte(']')
	if s.text[from] == '{' {
		kind, end = yaml.MappingNode, '}'
	}
	n := s.node(kind, yaml.FlowStyle, "", from)
	i := s.skip(from + 1)
	if i < len(s.text) && s.text[i] == end {
		return n, i + 1
	}
	for {
		if kind == yaml.MappingNode {
			var key *yaml.Node
			if key, i = s.flowKey(i); s.lost {
				return nil, i
			}
			n.Content = append(n.Content, key)
		}
		var value *yaml.Node
		if value, i = s.flowValue(i); s.lost {
			return nil, i
		}
		n.Content = append(n.Content, value)
		i = s.skip(i)
		switch {
		case i < len(s.text) && s.text[i] == end:
			return n, i + 1
		case i < len(s.text) && s.text[i] == ',':
			i = s.skip(i + 1)
		default:
			return s.giveUp(), i
		}
	}
}

func (s *subset) skip(i int) int {
	for i < len(s.text) && s.text[i] == ' ' {
		i++
	}
	return i
}

// flowKey reads `name: ` inside braces.
func (s *subset) flowKey(from int) (*yaml.Node, int) {
	n, after, ok := s.key(from)
	if !ok || after >= len(s.text) || s.text[after] != ' ' {
		return s.giveUp(), from
	}
	return n, s.skip(after)
}

func (s *subset) flowValue(from int) (*yaml.Node, int) {
	if from >= len(s.text) {
		return s.giveUp(), from
	}
	switch c := s.text[from]; c {
	case '[', '{':
		return s.flow(from)
	case '"', '\'':
		return s.quoted(from, c)
	}
	return s.flowPlain(from)
}

// flowPlain reads a plain scalar up to , ] or }.
func (s *subset) flowPlain(from int) (*yaml.Node, int) {
	if !mayBegin(s.text[from]) && (s.text[from] != '-' || from+1 == len(s.text) || !wordByte(s.text[from+1])) {
		return s.giveUp(), from
	}
	for i := from; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case strings.IndexByte("\n#[{?", c) >= 0:
			return s.giveUp(), from
		case c == ':' && (i+1 == len(s.text) || strings.IndexByte(" \n,[]{}?", s.text[i+1]) >= 0):
			return s.giveUp(), from
		case c == ',' || c == ']' || c == '}':
			end := i
			for s.text[end-1] == ' ' {
				end--
			}
			return s.node(yaml.ScalarNode, 0, s.text[from:end], from), i
		}
	}
	return s.giveUp(), from
}
