package yamlwalk

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Schema is a JSON Schema, its members in the order in which they are written.
type Schema []Member

// Member is one member of a Schema.
type Member struct {
	Name  string
	Value any // a Schema, or what encodes to JSON by itself
}

// MarshalJSONTo writes the members in their order.
func (s Schema) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range s {
		if err := e.WriteToken(jsontext.String(m.Name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, m.Value); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// Describe is the JSON Schema of a file of the kind, indented, with a final
// newline.
func Describe[V any](title string, k Kind[V]) ([]byte, error) {
	s := append(Schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}}, k.schema()...)
	var b bytes.Buffer
	if err := json.MarshalWrite(&b, s, jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
