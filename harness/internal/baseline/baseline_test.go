package baseline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/baseline"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/report"
)

func reportIn(t *testing.T, dir string, second int64, interrupted bool, shard *report.Shard) string {
	t.Helper()
	w, err := report.New(report.Options{Dir: dir, ID: report.NewID(time.Unix(second, 0), 1), Shard: shard})
	if err != nil {
		t.Fatal(err)
	}
	e := &report.Entry{Name: "a", Model: "m", Verdict: "pass"}
	if err := w.AddEntry(e, report.Stamp{}, []byte("outcome completed for token-123456\n")); err != nil {
		t.Fatal(err)
	}
	out, err := w.Close(interrupted)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAccept(t *testing.T) {
	dir := t.TempDir()
	first, second := reportIn(t, dir, 1, false, nil), reportIn(t, dir, 2, false, nil)
	if _, err := baseline.Read(dir); failure.Of(err) != failure.World {
		t.Errorf("none yet: %v", err)
	}
	p := baseline.Params{Report: first, Reports: dir, By: "ann", Rollback: "set MODEL", Text: "reviewed", Now: time.Unix(0, 0)}
	for _, from := range []string{first, filepath.Join(dir, "latest"), filepath.Join(second, "report.json")} {
		p.Report = from
		note, err := baseline.Accept(p)
		if err != nil {
			t.Fatal(err)
		}
		read, err := baseline.Read(dir)
		if d := cmp.Diff(note, read); err != nil || d != "" {
			t.Errorf("%v (-accepted +read):\n%s", err, d)
		}
	}
	// Whole: whatever the report has, transcripts too.
	want, err := os.ReadFile(filepath.Join(second, "transcripts", "all.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, baseline.Name, "transcripts", "all.txt"))
	if err != nil || string(got) != string(want) {
		t.Errorf("%q, %v", got, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// What is refused leaves the baseline as it was.
func TestNotAccepted(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	good := baseline.Params{Report: reportIn(t, dir, 1, false, nil), Reports: dir, By: "ann", Rollback: "set MODEL", Now: time.Unix(0, 0)}
	before, err := baseline.Accept(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		why    string
		change func(p *baseline.Params)
		class  failure.Class
		want   string
	}{
		{"no way back", func(p *baseline.Params) { p.Rollback = "  " }, failure.ScenarioInvalid, "--rollback: say how to go back"},
		{"no report", func(p *baseline.Params) { p.Report = filepath.Join(dir, "none") }, failure.World, "there is no report here"},
		{"interrupted", func(p *baseline.Params) { p.Report = reportIn(t, other, 3, true, nil) }, failure.ScenarioInvalid, "interrupted"},
		{"a part", func(p *baseline.Params) { p.Report = reportIn(t, other, 4, false, &report.Shard{Index: 1, Of: 2}) }, failure.ScenarioInvalid, "retake merge"},
		{"itself", func(p *baseline.Params) { p.Report = filepath.Join(dir, baseline.Name) }, failure.ScenarioInvalid, "the baseline already"},
		{"a secret in a transcript", func(p *baseline.Params) {
			p.Secrets = redact.New(redact.Secret{Name: "SHOP_KEY", Value: "token-123456"})
		}, failure.Contract, "the secret SHOP_KEY is in it"},
		{"a secret in the note", func(p *baseline.Params) {
			p.Rollback, p.Secrets = "use key-98765432", redact.New(redact.Secret{Name: "SHOP_KEY", Value: "key-98765432"})
		}, failure.Contract, "the secret SHOP_KEY is in it"},
	} {
		p := good
		tc.change(&p)
		if _, err := baseline.Accept(p); failure.Of(err) != tc.class || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v of class %s", tc.why, err, failure.Of(err))
		}
		after, err := baseline.Read(dir)
		if d := cmp.Diff(before, after); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", tc.why, err, d)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
