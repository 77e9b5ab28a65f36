package lint

import (
	"slices"
	"strings"
)

// schemaRules are the rules of what a tool takes and gives.
func schemaRules() []toolRule {
	return []toolRule{
		{Rule{
			"tool/schema-object", Error, "an input schema whose root is no object, or none at all",
			"arguments are an object; providers refuse the tool, or let anything in",
			"begin it with type: object and properties", "mcp",
		}, true, true, schemaObject},
		{Rule{
			"tool/schema-local", Error, "a $ref that leads out of the schema, or to nothing",
			"hosts load nothing from elsewhere: the tool cannot be called, or its arguments are not checked",
			"copy what it refers to under $defs, and refer to #/$defs/…", "mcp",
		}, true, true, schemaLocal},
		{Rule{
			"tool/schema-closed", Warning, "an input object that lets further properties in",
			"a misspelled argument is taken without a word, and the tool works with its default",
			"say additionalProperties: false", "L1",
		}, true, true, schemaClosed},
		{Rule{
			"tool/schema-required", Warning, "an input with several properties of which none is required",
			"about a third of calls to such tools leave out what the tool cannot do without",
			"say required, or give each property a default", "E1",
		}, true, true, schemaRequired},
		{Rule{
			"tool/no-output-schema", Warning, "a tool without an output schema",
			"nobody can tell a broken answer from a right one, and no widget can be checked",
			"declare what it answers", "mcp",
		}, true, true, outputDeclared},
		{Rule{
			"tool/output-object", Error, "an output schema whose root is no object",
			"structured content is an object; a server must keep its own schema",
			"wrap it: {type: object, properties: {items: …}}", "mcp",
		}, false, true, outputObject},
		{Rule{
			"tool/telemetry", Warning, "an output schema with traces, timings or debug data",
			"it costs tokens in every turn, reaches the model and the widget, and tells what lies inside",
			"put it into the log, or into _meta, which the model does not see", "E10",
		}, true, true, telemetry},
	}
}

func schemaObject(c *toolCheck) {
	input := objectOf(c.tool.Input)
	switch {
	case c.tool.Input == nil && c.tool.Partial:
	case c.tool.Input == nil:
		c.find(spot{part: partInput}, "it has no input schema, so any object is let in")
	case input == nil || input["type"] != "object" && strings.ToLower(input.text("type")) != "object":
		c.find(spot{part: partInput}, "the root of the input schema is not type: object")
	}
}

func schemaLocal(c *toolCheck) {
	for _, side := range []struct {
		part string
		root object
	}{{partInput, objectOf(c.tool.Input)}, {partOutput, objectOf(c.tool.Output)}} {
		walk(side.root, "", func(pointer string, s object) {
			switch ref, ok := s["$ref"].(string); {
			case !ok:
			case !strings.HasPrefix(ref, "#"):
				c.find(spot{side.part, pointer + "/$ref"}, "$ref leads out of the schema, to %q", ref)
			case !leads(side.root, ref):
				c.find(spot{side.part, pointer + "/$ref"}, "$ref leads to nothing: %q", ref)
			}
		})
	}
}

// leads tells whether a local reference has a target. One by an anchor is
// believed.
func leads(root object, ref string) bool {
	pointer := strings.TrimPrefix(ref, "#")
	if pointer == "" || pointer[0] != '/' {
		return true
	}
	var at any = map[string]any(root)
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v := at.(type) {
		case map[string]any:
			at = v[token]
		case []any:
			return true // an element of anyOf and the like
		default:
			return false
		}
	}
	return at != nil
}

func schemaClosed(c *toolCheck) {
	root := objectOf(c.tool.Input)
	walk(root, "", func(pointer string, s object) {
		if s.object("properties") == nil && pointer != "" || strings.Contains(pointer, "/allOf/") || !strings.EqualFold(s.text("type"), "object") {
			return // a part of a whole, or nothing that could be misspelled
		}
		if gemini(root) {
			return // its dialect has no such word
		}
		closed := s["additionalProperties"] == false || s["unevaluatedProperties"] == false
		if _, typed := s["additionalProperties"].(map[string]any); !closed && !typed {
			c.find(spot{partInput, pointer}, "it lets arguments in that it does not know")
		}
	})
}

// gemini tells that a schema is in the API's own dialect, its types in capitals.
func gemini(s object) bool { return s.text("type") == "OBJECT" }

func schemaRequired(c *toolCheck) {
	s := objectOf(c.tool.Input)
	props := s.object("properties")
	if len(props) < 2 || len(s.texts("required")) > 0 {
		return
	}
	for _, name := range props.names() {
		if _, ok := props.object(name)["default"]; !ok {
			c.find(spot{part: partInput}, "of its %d properties none is required, and %q has no default", len(props), name)
			return
		}
	}
}

func outputDeclared(c *toolCheck) {
	if c.tool.Output == nil && !c.tool.Partial {
		c.find(spot{part: partName}, "it does not say what it answers")
	}
}

func outputObject(c *toolCheck) {
	if c.tool.Output == nil {
		return
	}
	if s := objectOf(c.tool.Output); s == nil || !s.isType("object") {
		c.find(spot{part: partOutput}, "the root of the output schema is not type: object")
	}
}

// telemetryWords are names of what belongs into a log.
var telemetryWords = []string{
	"trace_id", "span_id", "parent_span_id", "traceparent", "trace", "stack", "stacktrace", "stack_trace", "debug", "debug_info", "telemetry", "metrics", "timings", "timing",
	"latency", "latency_ms", "elapsed", "elapsed_ms", "took_ms", "duration_ms", "query_time_ms", "server_time_ms", "log", "logs", "hostname", "host_name", "pod", "sql",
	"cache_hit", "upstream", "upstream_ms", "raw_response", "retries",
}

func telemetry(c *toolCheck) {
	properties(objectOf(c.tool.Output), func(pointer, name string, _ object) {
		if slices.Contains(telemetryWords, spelled(name)) {
			c.find(spot{partOutput, pointer}, "the answer carries %q, which is for a log", name)
		}
	})
}
