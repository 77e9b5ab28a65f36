package update_test

import (
	"testing"

	"github.com/retake-harness/retake/harness/internal/update"
)

func TestAsked(t *testing.T) {
	for _, tc := range []struct {
		why  string
		env  map[string]string
		want bool
	}{
		{"nobody asks", nil, false},
		{"as it is documented", map[string]string{"RETAKE_UPDATE": "1"}, true},
		{"as goldie documents it", map[string]string{"GOLDIE_UPDATE": "true"}, true},
		{"a no", map[string]string{"RETAKE_UPDATE": "0"}, false},
		{"a no in a word", map[string]string{"RETAKE_UPDATE": "false"}, false},
		{"a no does not take back the other's yes", map[string]string{"RETAKE_UPDATE": "0", "GOLDIE_UPDATE": "1"}, true},
		{"what cannot be read writes nothing over", map[string]string{"RETAKE_UPDATE": "no"}, false},
		{"another variable", map[string]string{"RETAKE_UPDATE_SCHEMAS": "1"}, false},
	} {
		if got := update.Asked(func(name string) string { return tc.env[name] }); got != tc.want {
			t.Errorf("%s: got %v", tc.why, got)
		}
	}
}
