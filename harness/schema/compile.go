package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// CompileError says why a text is no usable schema. Pointers lead into the
// schema.
type CompileError struct {
	Fields []FieldError // at least one
}

func (e *CompileError) Error() string {
	texts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		texts[i] = f.String()
	}
	return "JSON Schema does not compile: " + strings.Join(texts, "; ")
}

// noLoader refuses to load anything.
type noLoader struct{}

var errOutside = errors.New("outside the schema")

func (noLoader) Load(string) (any, error) { return nil, errOutside }

func compileError(doc any, err error) *CompileError {
	var invalid *jsonschema.SchemaValidationError
	var verr *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &verr) {
		if fields := fieldErrors(doc, nil, verr); len(fields) > 0 {
			return &CompileError{fields}
		}
	}
	pointer, message := "", "is no JSON Schema that can be used"
	var (
		load    *jsonschema.LoadURLError
		regex   *jsonschema.InvalidRegexError
		noPtr   *jsonschema.JSONPointerNotFoundError
		badPtr  *jsonschema.InvalidJsonPointerError
		anchor  *jsonschema.AnchorNotFoundError
		id      *jsonschema.DuplicateIDError
		badURL  *jsonschema.ParseURLError
		anchors *jsonschema.DuplicateAnchorError
	)
	switch {
	case errors.As(err, &load):
		message = fmt.Sprintf("refers to %q, which lies outside the schema; put it under $defs and refer to #/$defs/NAME", strings.TrimPrefix(load.URL, "retake:///"))
	case errors.As(err, &regex):
		pointer, message = fragment(regex.URL), fmt.Sprintf("the pattern %q is no regular expression: %v", regex.Regex, regex.Err)
	case errors.As(err, &noPtr):
		message = fmt.Sprintf("refers to #%s, which is not there", fragment(noPtr.URL))
	case errors.As(err, &badPtr):
		message = fmt.Sprintf("refers to #%s, which is no JSON pointer", fragment(badPtr.URL))
	case errors.As(err, &anchor):
		message = fmt.Sprintf("refers to #%s, which is not there", fragment(anchor.Reference))
	case errors.As(err, &id):
		message = fmt.Sprintf("the $id %q is there twice", id.ID)
	case errors.As(err, &anchors):
		message = fmt.Sprintf("the $anchor %q is there twice", anchors.Anchor)
	case errors.As(err, &badURL):
		message = fmt.Sprintf("%q is no address", badURL.URL)
	}
	return &CompileError{[]FieldError{{pointer, message}}}
}

// fragment is what follows # in an address.
func fragment(url string) string {
	_, f, _ := strings.Cut(url, "#")
	return f
}
