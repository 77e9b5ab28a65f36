package cassette_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
)

// echo answers each request with its path and how often it was asked for.
type echo struct{ asked []string }

func (e *echo) RoundTrip(req *http.Request) (*http.Response, error) {
	e.asked = append(e.asked, req.URL.Path)
	if req.URL.Path == "/limited" {
		return status(http.StatusTooManyRequests, "{}"), nil
	}
	if req.URL.Path == "/down" {
		return nil, syscall.ECONNREFUSED
	}
	return answerOf(strings.NewReader(fmt.Sprintf("answer %d", len(e.asked)))), nil
}

var alike = cassette.FileNotes{Model: "m", Hashes: cassette.Hashes{System: "s", Tools: "t", Scenario: "x"}}

// interrupted records some exchanges and leaves them in the partial file.
func interrupted(t *testing.T, path string, paths ...string) {
	t.Helper()
	r := record(t, path, cassette.Recording{Next: &echo{}, Notes: alike})
	for _, p := range paths {
		_, _ = exchanged(r, sent(t, p, `{}`))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// A recording is as old as the oldest of what is in it.
func TestWhatWasKeptKeepsItsAge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	synctest.Test(t, func(t *testing.T) {
		interrupted(t, path, "/a")
		time.Sleep(100 * 24 * time.Hour)
		r := record(t, path, cassette.Recording{Next: &echo{}, Notes: alike})
		for _, p := range []string{"/a", "/b"} {
			if _, err := exchanged(r, sent(t, p, `{}`)); err != nil {
				t.Fatal(err)
			}
		}
		finish(t, r)
	})
	if got, want := open(t, path).Notes.RecordedAt, "2000-01-01T00:00:00Z"; got != want {
		t.Errorf("recorded at %s, want %s", got, want)
	}
}

func TestAnInterruptedRecordingGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	interrupted(t, path, "/a", "/limited", "/b", "/down", "/a")
	live := &echo{}
	r := record(t, path, cassette.Recording{Next: live, Notes: alike})
	var got []string
	for _, p := range []string{"/a", "/limited", "/a", "/down", "/b", "/a"} {
		text, _ := exchanged(r, sent(t, p, `{}`))
		got = append(got, text)
	}
	// What was no answer is asked for again; the rest was paid for.
	if d := cmp.Diff([]string{"answer 1", "{}", "answer 5", "", "answer 3", "answer 3"}, got); d != "" {
		t.Errorf("the client got:\n%s", d)
	}
	if d := cmp.Diff([]string{"/limited", "/down", "/a"}, live.asked); d != "" || r.Kept() != 3 || r.Recorded() != 3 {
		t.Errorf("kept %d, recorded %d, asked of the API:\n%s", r.Kept(), r.Recorded(), d)
	}
	finish(t, r)
	got = nil
	for _, in := range open(t, path).Interactions {
		got = append(got, fmt.Sprintf("%s %d", strings.TrimPrefix(in.Request.URL, "https://api.example.com"), in.Response.Code))
	}
	if d := cmp.Diff([]string{"/a 200", "/limited 429", "/a 200", "/down 0", "/b 200", "/a 200"}, got); d != "" {
		t.Errorf("the cassette has:\n%s", d)
	}
	if w := r.Warnings(); len(w) != 0 {
		t.Errorf("warnings: %q", w)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*partial*")); left != nil {
		t.Errorf("left: %v", left)
	}
}

func TestWhatWasPaidForIsNotThrownAway(t *testing.T) {
	rows := []struct {
		why   string
		notes cassette.FileNotes
		says  string
	}{
		{"another prompt", cassette.FileNotes{Model: "m", Hashes: cassette.Hashes{System: "new", Tools: "t", Scenario: "x"}}, "another prompt"},
		{"other tools", cassette.FileNotes{Model: "m", Hashes: cassette.Hashes{System: "s", Tools: "new", Scenario: "x"}}, "another set of tools"},
		{"another scenario", cassette.FileNotes{Model: "m", Hashes: cassette.Hashes{System: "s", Tools: "t", Scenario: "new"}}, "another scenario"},
		{"it is not asked for again", alike, "were not asked for again"},
	}
	for _, row := range rows {
		path := filepath.Join(t.TempDir(), "m.yaml")
		interrupted(t, path, "/a", "/b")
		before, err := os.ReadFile(cassette.PartialPath(path))
		if err != nil {
			t.Fatal(err)
		}
		live := &echo{}
		r := record(t, path, cassette.Recording{Next: live, Notes: row.notes})
		if _, err := exchanged(r, sent(t, "/c", `{}`)); err != nil {
			t.Fatal(err)
		}
		finish(t, r)
		aside, err := os.ReadFile(cassette.PartialPath(path) + ".1")
		if err != nil || !strings.HasPrefix(string(aside), string(before)) {
			t.Errorf("%s: what was kept is not set aside: %v", row.why, err)
		}
		if w := strings.Join(r.Warnings(), "\n"); !strings.Contains(w, row.says) || !strings.Contains(w, ".partial.1") {
			t.Errorf("%s: warnings: %s", row.why, w)
		}
		if n := len(open(t, path).Interactions); n != 1 {
			t.Errorf("%s: the cassette has %d exchanges", row.why, n)
		}
	}
}

func TestATornRecordIsDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	interrupted(t, path, "/a", "/b")
	partial := cassette.PartialPath(path)
	whole, err := os.ReadFile(partial)
	if err != nil {
		t.Fatal(err)
	}
	_, firstEnd, _ := cassette.PartialOf(whole[:strings.LastIndex(string(whole), "# retake partial ")])
	for cut := int(firstEnd) + 1; cut < len(whole); cut += 97 {
		if err := os.WriteFile(partial, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		live := &echo{}
		r := record(t, path, cassette.Recording{Next: live, Notes: alike})
		for _, p := range []string{"/a", "/b"} {
			if _, err := exchanged(r, sent(t, p, `{}`)); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.Warnings()) != 1 || r.Kept() != 1 || r.Recorded() != 1 {
			t.Fatalf("cut at %d: kept %d, recorded %d, warnings %q", cut, r.Kept(), r.Recorded(), r.Warnings())
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(partial)
		if err != nil {
			t.Fatal(err)
		}
		if numbers, size, torn := cassette.PartialOf(after); torn || len(numbers) != 2 || size != int64(len(after)) {
			t.Fatalf("cut at %d: the file then holds %v, torn %v", cut, numbers, torn)
		}
	}
	// A damaged record in the middle costs only itself.
	damaged := []byte(strings.Replace(string(whole), "/a", "/A", 1))
	if numbers, _, torn := cassette.PartialOf(damaged); !torn || len(numbers) != 1 || numbers[0] != 2 {
		t.Errorf("damaged in the middle: %v, %v", numbers, torn)
	}
}

func TestWhereTheDiskFails(t *testing.T) {
	for _, operation := range []string{"create", "write", "sync", "rename"} {
		path := filepath.Join(t.TempDir(), "m.yaml")
		if err := cassette.Save(path, fileOf(recorded("/old", `{}`, "old"))); err != nil {
			t.Fatal(err)
		}
		old, _ := os.ReadFile(path)
		full := false
		disk := cassette.BadDisk{Fault: func(op string) error {
			if full && op == operation {
				return syscall.ENOSPC
			}
			return nil
		}}
		r, err := cassette.RecordOn(disk, path, cassette.Recording{Next: &echo{}, Notes: alike})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := exchanged(r, sent(t, "/a", `{}`)); err != nil {
			t.Fatal(err)
		}
		full = true
		err = r.Finish()
		if failure.Of(err) != failure.World || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), cassette.PartialPath(path)) {
			t.Errorf("%s: Finish: %v", operation, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if now, _ := os.ReadFile(path); string(now) != string(old) {
			t.Errorf("%s: the old cassette is now %q", operation, now)
		}
		if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 2 {
			t.Errorf("%s: the folder has %v", operation, files)
		}
		again := record(t, path, cassette.Recording{Next: &echo{}, Notes: alike})
		if text, err := exchanged(again, sent(t, "/a", `{}`)); text != "answer 1" || err != nil || again.Kept() != 1 {
			t.Errorf("%s: the next session got %q, %v", operation, text, err)
		}
		finish(t, again)
	}
}

func TestAnExchangeThatCannotBeKeptIsInTheCassetteAllTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	full := false
	r, err := cassette.RecordOn(cassette.BadDisk{Fault: func(op string) error {
		if full && op == "write" {
			return syscall.ENOSPC
		}
		return nil
	}}, path, cassette.Recording{Next: &echo{}, Notes: alike})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range []string{"/a", "/b", "/c"} {
		full = i == 1
		if _, err := exchanged(r, sent(t, p, `{}`)); err != nil {
			t.Fatal(err)
		}
	}
	data, _ := os.ReadFile(cassette.PartialPath(path))
	if numbers, _, torn := cassette.PartialOf(data); torn || fmt.Sprint(numbers) != "[1 3]" || len(r.Warnings()) != 1 {
		t.Errorf("kept on disk: %v, torn %v, warnings %q", numbers, torn, r.Warnings())
	}
	finish(t, r)
	if n := len(open(t, path).Interactions); n != 3 {
		t.Errorf("the cassette has %d exchanges", n)
	}
}

func TestRecordRefusesWhatItCouldNotWriteInTheEnd(t *testing.T) {
	dir := t.TempDir()
	notes := filepath.Join(dir, "notes.yaml")
	if err := os.WriteFile(notes, []byte("my notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		why, path string
		o         cassette.Recording
		class     failure.Class
	}{
		{"a file in the way", notes, cassette.Recording{}, failure.CassetteInvalid},
		{"below a file", filepath.Join(notes, "m.yaml"), cassette.Recording{}, failure.World},
		{"a wrong pointer", filepath.Join(dir, "m.yaml"), cassette.Recording{Redact: cassette.Redaction{JSON: []string{"email"}}}, failure.ScenarioInvalid},
		{"a wrong mode", filepath.Join(dir, "m.yaml"), cassette.Recording{Replay: cassette.Options{Match: "nearly"}}, failure.ScenarioInvalid},
	} {
		if _, err := cassette.Record(row.path, row.o); failure.Of(err) != row.class {
			t.Errorf("%s: %v, want class %s", row.why, err, row.class)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

func TestWithoutAnExchangeNothingIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	r := record(t, path, cassette.Recording{Next: &echo{}, Notes: alike})
	finish(t, r)
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
	r = record(t, path, cassette.Recording{Next: &echo{}, Notes: alike})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 0 {
		t.Errorf("left behind by Close: %v", files)
	}
	if _, err := r.RoundTrip(sent(t, "/a", `{}`)); failure.Of(err) != failure.Internal {
		t.Errorf("after Close: %v", err)
	}
}

// FuzzPartial: whatever is in the file, reading it does not fail, and what was whole
// before its end is read.
func FuzzPartial(f *testing.F) {
	one := cassette.AppendPartial(nil, 1, fileOf(recorded("/a", `{}`, "one\n# retake partial 9 1 x\ntwo")))
	f.Add([]byte{})
	f.Add(one)
	f.Add(one[:len(one)-3])
	f.Add([]byte("# retake partial 1 999999999999999999 0\n"))
	f.Add([]byte("# retake partial -1 0 e3b0c44298fc1c14\n"))
	f.Fuzz(func(t *testing.T, tail []byte) {
		numbers, size, _ := cassette.PartialOf(append(slices.Clip(one), tail...))
		if len(numbers) < 1 || numbers[0] != 1 || size < int64(len(one)) || size > int64(len(one)+len(tail)) {
			t.Fatalf("behind a whole record: %v, %d", numbers, size)
		}
		numbers, _, torn := cassette.PartialOf(append(append(slices.Clip(tail), '\n'), one...))
		if len(numbers) < 1 || numbers[len(numbers)-1] != 1 || len(tail) > 0 && len(numbers) == 1 && !torn {
			t.Fatalf("before a whole record: %v, torn %v", numbers, torn)
		}
	})
}
