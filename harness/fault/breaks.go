package fault

import (
	"bytes"
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// The ways in which arguments stop fitting a schema.
const (
	breakMissing    = "missing"
	breakWrongType  = "wrong_type"
	breakExtra      = "extra"
	breakOutOfRange = "out_of_range"
)

// breakages are these ways, in the order in which they are tried. Read-only.
var breakages = []string{breakMissing, breakWrongType, breakExtra, breakOutOfRange}

// breaks are arguments with one field broken in the given way that the tool's
// schema refuses: none where it allows all, or refuses the arguments as they are.
func breaks(kind string, spec *tool.Spec, args jsontext.Value) iter.Seq[jsontext.Value] {
	return func(yield func(jsontext.Value) bool) {
		if spec == nil || spec.Input == nil || len(spec.Input.Check(args)) > 0 {
			return
		}
		for candidate := range candidates(kind, args) {
			if len(spec.Input.Check(candidate)) > 0 && !yield(candidate) {
				return
			}
		}
	}
}

// candidates are the arguments with one field changed in a way that a schema may
// refuse.
func candidates(kind string, args jsontext.Value) iter.Seq[jsontext.Value] {
	return func(yield func(jsontext.Value) bool) {
		if kind == breakExtra {
			yield(rawjson.Set(args, unusedName(args), []byte("true")))
			return
		}
		for c := rawjson.InObject(args); c.More(); {
			name, value := c.Member()
			if kind == breakMissing {
				if !yield(without(args, string(name))) {
					return
				}
				continue
			}
			for _, other := range others(kind, value) {
				if !yield(rawjson.Set(args, string(name), []byte(other))) {
					return
				}
			}
		}
	}
}

func without(args jsontext.Value, name string) jsontext.Value {
	if rest := rawjson.Without(args, name); rest != nil {
		return rest
	}
	return jsontext.Value("{}")
}

func unusedName(args jsontext.Value) string {
	name := "unexpected"
	for rawjson.Get(args, name) != nil {
		name += "_"
	}
	return name
}

// others are what may stand in a value's place: something of another type, or of
// its own but far from anything sensible.
func others(kind string, value jsontext.Value) []string {
	is := value.Kind()
	if kind == breakWrongType {
		switch is {
		case jsontext.KindString:
			return []string{`42`, `true`, `{}`}
		case jsontext.KindNumber:
			return []string{`"` + string(value) + `"`, `{}`}
		default:
			return []string{`"none"`, `42`}
		}
	}
	switch is {
	case jsontext.KindString:
		return []string{`""`, `"no such value"`, `"` + strings.Repeat("x", longText) + `"`}
	case jsontext.KindNumber:
		return []string{`-1`, `0`, `-1000000000`, `1000000000`}
	case jsontext.KindBeginArray:
		return []string{`[]`, manyTimes(value)}
	default:
		return nil
	}
}

const (
	longText = 5_000
	longList = 200
)

// manyTimes is a list with its first element again and again.
func manyTimes(list jsontext.Value) string {
	for c := rawjson.InArray(list); c.More(); {
		return "[" + string(bytes.TrimSuffix(bytes.Repeat(append(c.Value(), ','), longList), []byte(","))) + "]"
	}
	return "[]"
}
