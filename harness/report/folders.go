package report

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/failure"
)

// idTime is the time in a run's id.
const idTime = "20060102-150405"

var runFolder = regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{8}$`)

// pointLatest makes reports/latest a link to the run's folder, in one step, or a
// copy of it on a system without links for everybody. What else has that name
// stays.
func pointLatest(dir, id string, symlink func(to, name string) error) error {
	latest, link := filepath.Join(dir, "latest"), filepath.Join(dir, ".latest."+id)
	if foreign(latest) {
		return failure.Errorf(failure.World, "%s: this is no report of retake, and is not replaced; move it away, or name another folder with --reports DIR (the report of this run is in %s)",
			latest, filepath.Join(dir, id))
	}
	if err := symlink(id, link); err != nil {
		return copyLatest(dir, id)
	}
	defer func() { _ = os.Remove(link) }() // there only when the renaming went wrong
	if info, err := os.Lstat(latest); err == nil && info.IsDir() {
		if err := os.RemoveAll(latest); err != nil {
			return err
		}
	}
	return os.Rename(link, latest)
}

// foreign tells whether there is something at latest that retake did not make:
// no link, and no folder with a report of ours.
func foreign(latest string) bool {
	info, err := os.Lstat(latest)
	if err != nil || info.Mode()&os.ModeSymlink != 0 {
		return false
	}
	f, err := os.Open(filepath.Join(latest, "report.json"))
	if err != nil {
		return true
	}
	defer func() { _ = f.Close() }()
	beginning := make([]byte, len(`{"schema":"retake.report/`))
	_, err = io.ReadFull(f, beginning)
	return err != nil || string(beginning) != `{"schema":"retake.report/`
}

func copyLatest(dir, id string) error {
	latest, temp := filepath.Join(dir, "latest"), filepath.Join(dir, ".latest."+id)
	defer func() { _ = os.RemoveAll(temp) }()
	if err := os.CopyFS(temp, os.DirFS(filepath.Join(dir, id))); err != nil {
		return err
	}
	if err := os.RemoveAll(latest); err != nil {
		return err
	}
	return os.Rename(temp, latest)
}

// prune removes the oldest runs' folders and what killed runs have left; a
// folder that does not have the name of a run is nobody's business. What cannot
// be removed is no reason to fail.
func (w *Writer) prune() {
	entries, err := os.ReadDir(w.opts.Dir)
	if err != nil {
		return
	}
	var runs []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case w.litter(name):
			_ = os.RemoveAll(filepath.Join(w.opts.Dir, name))
		case e.IsDir() && runFolder.MatchString(name) && name != w.opts.ID:
			runs = append(runs, name)
		}
	}
	slices.Sort(runs)
	for w.opts.Keep > 0 && len(runs) >= w.opts.Keep { // this run is one of those kept, even when a younger one was faster
		_ = os.RemoveAll(filepath.Join(w.opts.Dir, runs[0]))
		runs = runs[1:]
	}
}

// litter tells whether an unfinished folder is of a run that began so long ago
// that it cannot be at work any more.
func (w *Writer) litter(name string) bool {
	id, partial := strings.CutSuffix(strings.TrimPrefix(name, "."), ".partial")
	if !partial {
		id = strings.TrimPrefix(id, "latest.")
	}
	if id == name || !runFolder.MatchString(id) {
		return false
	}
	began, err := time.Parse(idTime, id[:len(idTime)])
	return err == nil && w.started.Sub(began) > 24*time.Hour
}
