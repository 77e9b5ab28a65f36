package giftgenius_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/example/giftgenius"
	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/internal/render"
)

// The widget shows its three states to a telephone and a desktop; the spinning one
// waits for ever on an error, and when nothing is found.
func TestWidgetIsRendered(t *testing.T) {
	browser, err := render.Find(os.Getenv)
	if errors.Is(err, render.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		mistake giftgenius.Mistake
		want    []string
	}{
		{"", nil},
		{giftgenius.SpinningWidget, []string{"widget/renders-empty", "widget/renders-error"}},
	} {
		t.Run(string(tc.mistake), func(t *testing.T) {
			session, _ := shopSession(t, tc.mistake, false)
			set, err := lint.Read(t.Context(), session, "giftgenius", lint.Place{})
			if err != nil {
				t.Fatal(err)
			}
			shown, err := set.Render(t.Context(), &lint.Rendering{Show: browser.Show})
			if err != nil {
				t.Fatal(err)
			}
			var rules []string
			for _, f := range shown.Findings {
				rules = append(rules, f.Rule)
			}
			slices.Sort(rules)
			if diff := cmp.Diff(tc.want, rules); diff != "" {
				t.Errorf("(-want +got):\n%s%v", diff, shown.Findings)
			}
			if len(shown.Pictures) != 12 || len(shown.Notes) > 0 {
				t.Errorf("%d pictures; not judged: %q", len(shown.Pictures), shown.Notes)
			}
		})
	}
}
