package schema

import "strings"

// plainTypes rewrites, in place, what Gemini's schemas say in the words of
// OpenAPI 3.0 and JSON Schema says otherwise: {"type": "INTEGER", "nullable":
// true} is {"type": ["integer", "null"]}.
func plainTypes(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			plainTypes(e)
		}
	case map[string]any:
		if name, ok := v["type"].(string); ok {
			v["type"] = plainType(name, v["nullable"] == true)
		}
		for keyword, e := range v {
			switch keyword {
			case "enum", "const", "default", "example", "examples": // values, no schemas
			default:
				plainTypes(e)
			}
		}
	}
}

func plainType(name string, nullable bool) any {
	if lower := strings.ToLower(name); name == strings.ToUpper(name) && typeBits[lower] != 0 {
		name = lower
	}
	if nullable && name != "null" {
		return []any{name, "null"}
	}
	return name
}
