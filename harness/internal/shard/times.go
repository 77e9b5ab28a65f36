package shard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/report"
)

// Times are the real times, in microseconds, that each scenario took in the newest
// report below dir that is of a whole run; from is its folder, "" without one.
// Reports of parts do not count: they would give each part another split.
func Times(dir string) (times map[string]int64, from string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", failure.Errorf(failure.World, "%s: looking for the newest report: %w", dir, err)
	}
	slices.Reverse(entries) // a run's name begins with its time
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "latest" {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(path, "report.json")); err != nil {
			continue
		}
		if times, ok := timesOf(path); ok {
			return times, path, nil
		}
	}
	return nil, "", nil
}

// TimesOf are the times of one report, which has to be there and of a whole run.
func TimesOf(path string) (map[string]int64, error) {
	doc, names, err := survey(path)
	if err != nil {
		return nil, err
	}
	if doc.Run.Shard != nil {
		return nil, failure.Errorf(failure.ScenarioInvalid, "%s: this is a report of part %d of %d, which cannot say how long the others take; join them first: retake merge", path, doc.Run.Shard.Index, doc.Run.Shard.Of)
	}
	return sum(names, doc.Run.Volatile.Entries), nil
}

// timesOf leaves out what is no good for it: a damaged report is no reason not to
// run.
func timesOf(path string) (map[string]int64, bool) {
	times, err := TimesOf(path)
	return times, err == nil && len(times) > 0
}

// survey reads a report without keeping its entries: their names, in their order.
func survey(path string) (*report.Document, []string, error) {
	var names []string
	doc, err := report.Stream(path, func(e *report.Entry) error {
		names = append(names, e.Name)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if stamps := doc.Run.Volatile.Entries; len(stamps) != len(names) {
		return nil, nil, failure.Errorf(failure.ScenarioInvalid, "%s: the report is damaged: it has %d entries and the times of %d", report.File(path), len(names), len(stamps))
	}
	return doc, names, nil
}

func sum(names []string, stamps []report.Stamp) map[string]int64 {
	out := map[string]int64{}
	for i, name := range names {
		out[name] += stamps[i].Real
	}
	return out
}
