package rawjson_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// rebuild walks everything and writes it again.
func rebuild(c *rawjson.Cursor, dst []byte) []byte {
	sep := ""
	switch c.Kind() {
	case '{':
		dst = append(dst, '{')
		for c.Object(); c.More(); sep = "," {
			dst = append(rawjson.Quote(append(dst, sep...), c.Name()), ':')
			dst = rebuild(c, dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for c.Array(); c.More(); sep = "," {
			dst = rebuild(c, append(dst, sep...))
		}
		return append(dst, ']')
	case '"':
		return rawjson.Quote(dst, c.Text())
	}
	return append(dst, c.Value()...)
}

func FuzzCursor(f *testing.F) {
	f.Add([]byte(` { "a" : [ 1 , -2.50e+3, "x\"\\", null, {} , [] ] , "\u00e9\n" : { "t" : true } } `))
	f.Add([]byte(`"\\\""`))
	f.Add([]byte(`{"a":{"b":[{"c":"d\\"}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := rawjson.New(b)
		if !rawjson.Valid(b) {
			rebuild(&c, nil) // it may be nonsense, but it ends
			return
		}
		v := jsontext.Value(b).Clone()
		if v.Compact(jsontext.PreserveRawStrings(false)) != nil {
			return
		}
		if diff := cmp.Diff(string(v), string(rebuild(&c, nil))); diff != "" {
			t.Errorf("walked differently (-want +got):\n%s", diff)
		}
		whole := rawjson.New(b)
		if got := whole.Value(); !rawjson.Valid(got) || whole.Kind() != 0 {
			t.Errorf("the whole value is %q of %q", got, b)
		}
	})
}

func TestWrongTypes(t *testing.T) {
	tests := []struct{ why, body, want string }{
		{"all as asked", `{"s":"x","n":3,"b":true,"a":[1],"o":{}}`, ""},
		{"null is of every type", `{"s":null,"n":null,"b":null,"a":null,"o":null}`, ""},
		{"a number for a string", `{"s":3}`, `"s" is not a string`},
		{"a string for a number", `{"n":"3"}`, `"n" is not a number`},
		{"a fraction", `{"n":3.5}`, `"n" is not a whole number`},
		{"a string for an array", `{"a":"x"}`, `"a" is not an array`},
		{"the first counts", `{"b":1,"o":2}`, `"b" is not true or false`},
	}
	for _, tt := range tests {
		c := rawjson.New([]byte(tt.body))
		for c.Object(); c.More(); {
			switch string(c.Name()) {
			case "s":
				c.Text()
			case "n":
				c.Int()
			case "b":
				c.Bool()
			case "a":
				for c.Array(); c.More(); {
					c.Value()
				}
			case "o":
				for c.Object(); c.More(); {
					c.Value()
				}
			}
		}
		got := ""
		if c.Err() != nil {
			got = c.Err().Error()
		}
		if got != tt.want {
			t.Errorf("%s: %s: error %q, want %q", tt.why, tt.body, got, tt.want)
		}
	}
}

func TestGet(t *testing.T) {
	for _, tc := range []struct {
		why, object string
		want        jsontext.Value
	}{
		{"a member", `{"a": 1, "b": [2] }`, jsontext.Value(`[2]`)},
		{"the first of several", `{"b":1,"b":2}`, jsontext.Value(`1`)},
		{"no such member is nil, not empty", `{"a":1}`, nil},
		{"no object is nil", `[1]`, nil},
		{"nothing is nil", ``, nil},
	} {
		got := rawjson.Get(jsontext.Value(tc.object), "b")
		if string(got) != string(tc.want) || (got == nil) != (tc.want == nil) {
			t.Errorf("%s: got %#v, want %#v", tc.why, got, tc.want)
		}
	}
}

func TestSet(t *testing.T) {
	tests := []struct{ why, object, name, value, want string }{
		{"replaced in its place", `{"a": 1, "b":2}`, "a", `"x"`, `{"a": "x", "b":2}`},
		{"added at the end", `{"a":1}`, "b", `2`, `{"a":1,"b":2}`},
		{"added to an empty object", `{ }`, "b", `2`, `{ "b":2}`},
		{"an inner member of that name is another", `{"x":{"a":1}}`, "a", `2`, `{"x":{"a":1},"a":2}`},
	}
	for _, tt := range tests {
		if got := rawjson.Set(jsontext.Value(tt.object), tt.name, []byte(tt.value)); string(got) != tt.want {
			t.Errorf("%s: got %s, want %s", tt.why, got, tt.want)
		}
	}
}

func TestMembers(t *testing.T) {
	var m rawjson.Members
	if m.Value() != nil {
		t.Error("nothing added should give nil")
	}
	m.Add([]byte("b"), jsontext.Value(`{"z":1.50,"y":2}`))
	m.AddSet([]byte("n"), jsontext.Value(`null`))
	m.Add([]byte("a"), jsontext.Value(`"\u00e9"`))
	const want = `{"a":"é","b":{"y":2,"z":1.50}}`
	if got := m.Value(); string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := rawjson.Without(jsontext.Value(want), "b"); string(got) != `{"a":"é"}` {
		t.Errorf("without b: %s", got)
	}
	if got := rawjson.Without(jsontext.Value(`{"b":1}`), "b"); got != nil {
		t.Errorf("without the only member: %s", got)
	}
	if got := rawjson.Splice([]byte(`{"x":0`), jsontext.Value(` { "a":1 } `)); string(got) != `{"x":0,"a":1` {
		t.Errorf("spliced: %s", got)
	}
}

func TestInt(t *testing.T) {
	for text, want := range map[string]int64{"12": 12, "-3": -3, "12.0": 12, "1.2e1": 12} {
		if got, ok := rawjson.Int([]byte(text)); !ok || got != want {
			t.Errorf("Int(%s) = %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"1.5", "1e400", "1e30", ""} {
		if got, ok := rawjson.Int([]byte(text)); ok {
			t.Errorf("Int(%s) = %d, want none", text, got)
		}
	}
}
