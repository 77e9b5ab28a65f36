package schema

import (
	"bytes"
	stdjson "encoding/json" // for Number, in which the validator wants its numbers
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// decode reads one JSON value; numbers keep their written text, and a member
// that is there twice is an error.
func decode(text []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	v, err := decodeValue(d)
	if err != nil {
		return nil, badSyntax(err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("is not valid JSON: there is more text behind the value")
	}
	return v, nil
}

// badSyntax words a decoder's error without naming the decoder.
func badSyntax(err error) error {
	var s *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &s):
		return fmt.Errorf("is not valid JSON: the member %s is there twice", s.JSONPointer)
	case errors.Is(err, io.EOF):
		return errors.New("is not valid JSON: it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("is not valid JSON: it ends in the middle")
	case errors.Is(err, errTooLarge):
		return err
	case errors.As(err, &s):
		return fmt.Errorf("is not valid JSON: %w at byte %d", s.Err, s.ByteOffset)
	}
	return errors.New("is not valid JSON")
}

func decodeValue(d *jsontext.Decoder) (any, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case jsontext.KindBeginObject:
		return decodeObject(d)
	case jsontext.KindBeginArray:
		return decodeArray(d)
	case jsontext.KindString:
		return t.String(), nil
	case jsontext.KindNumber:
		if err := tooLarge(t.String()); err != nil {
			return nil, err
		}
		return stdjson.Number(t.String()), nil
	case jsontext.KindTrue, jsontext.KindFalse:
		return t.Bool(), nil
	default:
		return nil, nil //nolint:nilnil // null is nil to the validator
	}
}

// errTooLarge keeps numbers out that no JSON library reads as a number and that
// exact arithmetic chokes on.
var errTooLarge = errors.New("has a number with an exponent beyond 1000")

func tooLarge(number string) error {
	_, exponent, found := strings.Cut(strings.ToLower(number), "e")
	if !found {
		return nil
	}
	if n, err := strconv.Atoi(exponent); err != nil || n < -1000 || n > 1000 {
		return errTooLarge
	}
	return nil
}

func decodeObject(d *jsontext.Decoder) (any, error) {
	m := map[string]any{}
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		if m[key], err = decodeValue(d); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return m, err
}

func decodeArray(d *jsontext.Decoder) (any, error) {
	list := []any{}
	for d.PeekKind() != jsontext.KindEndArray {
		v, err := decodeValue(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.ReadToken()
	return list, err
}
