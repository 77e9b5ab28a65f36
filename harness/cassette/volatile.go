package cassette

import (
	"regexp"
	"strings"

	"github.com/retake-harness/retake/harness/jsondoc"
)

// volatileAt tells whether both values of a difference look like something that
// is made anew in every run. Times and UUIDs do so anywhere but in the model's
// name; other ids only in the history, where tool results are.
func volatileAt(cause Cause, d jsondoc.Difference) bool {
	if d.Kind != jsondoc.Changed || cause == CauseModel || namesCall(d.Pointer) {
		return false
	}
	a, b := strings.Trim(d.A, `"`), strings.Trim(d.B, `"`)
	if looksLikeTime(a) && looksLikeTime(b) || looksLikeUUID(a) && looksLikeUUID(b) {
		return true
	}
	return (cause == CauseHistory || cause == CauseArguments) && looksLikeID(a) && looksLikeID(b)
}

// namesCall tells that a member names the call that a result belongs to. In mode
// normalised ids are renamed before they are compared, so another one is another
// call: to ignore it would hide a result under the wrong call.
func namesCall(pointer string) bool {
	switch pointer[strings.LastIndexByte(pointer, '/')+1:] {
	case "tool_use_id", "tool_call_id", "call_id":
		return true
	}
	return false
}

func looksLikeTime(s string) bool {
	return matches(`^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?(Z|UTC|[+-]\d\d:?\d\d))?)?$`, s) ||
		matches(`^(1[5-9]|2[0-9])\d{8}(\d{3}|\d{6}|\d{9})?(\.\d+)?$`, s) || // seconds to nanoseconds since 1970
		matches(`^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \S+$`, s)
}

func looksLikeUUID(s string) bool {
	return matches(`^(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`, s)
}

// looksLikeID knows a word of letters and digits mixed, as ids are.
func looksLikeID(s string) bool {
	return matches(`^[A-Za-z0-9_.:-]{2,72}$`, s) && strings.ContainsAny(s, "0123456789") && matches(`[A-Za-z]`, s)
}

// matches compiles its pattern anew: only a miss asks, and not often.
func matches(pattern, s string) bool {
	ok, _ := regexp.MatchString(pattern, s)
	return ok
}

// rule is the ignore rule for a pointer: any element in the place of a number.
func rule(pointer string) string {
	segments := strings.Split(pointer, "/")
	for i, s := range segments {
		if s != "" && strings.Trim(s, "0123456789") == "" {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, "/")
}
