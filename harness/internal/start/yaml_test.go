package start

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

func TestAppendField(t *testing.T) {
	for _, tt := range []struct{ why, name, value, want string }{
		{"a word", "tool", `"get_weather"`, "tool: get_weather\n"},
		{"a word that means something else", "on", `"yes"`, "\"on\": \"yes\"\n"},
		{"a number in quotes", "time", `"20:00"`, "time: \"20:00\"\n"},
		{"a number as it was written", "size", `1.50`, "size: 1.50\n"},
		{"lines", "system", `"Be kind.\n\n  Be brief.\n"`, "system: |\n  Be kind.\n\n    Be brief.\n"},
		{"lines without an end", "system", `"a: b\n# c"`, "system: |-\n  a: b\n  # c\n"},
		{"lines that begin with a blank", "system", `" a\nb"`, "system: \" a\\nb\"\n"},
		{"a line end of other readers", "system", "\"a\u2028b\"", "system: \"a\\u2028b\"\n"},
		{"nothing in it", "tools", `[]`, "tools: []\n"},
		{"a short object", "args", `{"city":"London, UK","days":1}`, "args: {city: \"London, UK\", days: 1}\n"},
		{
			"a long list of objects", "tools", `[{"name":"a","description":"An explanation that is long enough to need more than the one line that there is for it."},{"name":"b"}]`,
			"tools:\n  - name: a\n    description: \"An explanation that is long enough to need more than the one line that there is for it.\"\n  - {name: b}\n",
		},
	} {
		if got := string(appendField(nil, 0, tt.name, jsontext.Value(tt.value))); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.why, got, tt.want)
		}
	}
}

// What is written is read as what it was.
func TestWhatIsWrittenIsRead(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ab :#|>-]{0,8}(\n[ab :#\t-]{0,8}){0,4}`), rapid.SampledFrom([]string{"true", "~", "0x1f", "1e3", "- a", "\n", " \n", "a\n\n", "\u0085", "\ufeff"}))
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(rapid.Map(texts, func(s string) any { return s }), rapid.Map(rapid.Bool(), func(b bool) any { return b }))
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(value(depth-1), 0, 4), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(texts, value(depth-1), 0, 4), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(t *rapid.T) {
		want := value(3).Draw(t, "value")
		v, err := json.Marshal(want, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			t.Skip(err)
		}
		var clean any
		if err := json.Unmarshal(v, &clean); err != nil {
			t.Skip(err)
		}
		text := appendField(nil, 0, "field", v)
		var got map[string]any
		if err := yaml.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v\n%s\n%q", err, text, text)
		}
		if d := cmp.Diff(map[string]any{"field": clean}, got); d != "" {
			t.Fatalf("%s\n%s", text, d)
		}
	})
}
