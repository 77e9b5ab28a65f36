package wire

import (
	"slices"
	"strings"
)

// SortFields brings fields into the order of their names, as Request.Params
// wants them.
func SortFields(fields []Field) {
	slices.SortStableFunc(fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
}
