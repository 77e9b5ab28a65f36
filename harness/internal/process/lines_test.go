package process

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	for _, tc := range []struct {
		why     string
		written []string
		want    []string
	}{
		{"lines, and one that has not ended", []string{"a\nb\nc"}, []string{"a", "b"}},
		{"a line in pieces", []string{"re", "take\n"}, []string{"retake"}},
		{"two line ends", []string{"a\r\n\n"}, []string{"a", ""}},
		{"a flood without an end is cut", []string{strings.Repeat("x", 3*longestLine), "\nb\n"}, []string{strings.Repeat("x", longestLine), "b"}},
	} {
		var got []string
		l := &lines{each: func(line string) { got = append(got, line) }}
		for _, w := range tc.written {
			if n, err := l.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("%s: %d, %v", tc.why, n, err)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}
