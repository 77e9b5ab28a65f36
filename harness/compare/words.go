package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/retake-harness/retake/harness/internal/stats"
	"github.com/retake-harness/retake/harness/report"
)

// cut shortens a text to about most bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// listed names a few, and counts the rest.
func listed(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(shortened(names), ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(shortened(names[:most]), ", "), len(names)-most)
}

func shortened(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = cut(n, 100)
	}
	return out
}

// histogram spells counts, the most frequent first.
func histogram(counts map[string]int) string {
	keys := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%s %d", cut(k, 100), counts[k])
	}
	return strings.Join(parts, ", ")
}

// signed spells a difference: +0.33, −0.05.
func signed(v float64) string {
	return strings.Replace(fmt.Sprintf("%+.2f", v), "-", "−", 1)
}

// short spells a probability or a difference.
func short(v float64) string {
	switch {
	case v != 0 && math.Abs(v) < 0.001:
		return strconv.FormatFloat(v, 'g', 2, 64)
	default:
		return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
	}
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', -1, 64) + " %" }

// times spells a ratio.
func times(v float64) string {
	if math.IsInf(v, 1) {
		return "×∞"
	}
	return fmt.Sprintf("×%.2f", v)
}

// span spells the interval of a logarithm as ratios.
func span(in stats.Interval) string {
	if math.IsInf(in.Lo, 0) && math.IsInf(in.Hi, 0) {
		return "without bounds"
	}
	return times(math.Exp(in.Lo)) + " to " + times(math.Exp(in.Hi))
}

// amount spells a figure in its unit.
func amount(f figure, v float64) string {
	switch figureUnits[f] {
	case "usd":
		return report.Dollars(&v)
	case "us":
		return report.Duration(int64(v))
	default:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
