package view

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
)

const patience = 200 * time.Millisecond

// watcher calls back when something was written below folders.
type watcher struct {
	fs      *fsnotify.Watcher
	folders []string
	wait    time.Duration
	changed func()
	done    chan struct{}
}

func watch(ctx context.Context, folders []string, wait time.Duration, changed func()) (*watcher, error) {
	f, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, failure.Errorf(failure.World, "the reports cannot be watched: %w; draw them once: retake view", err)
	}
	w := &watcher{fs: f, folders: folders, wait: cmp.Or(wait, patience), changed: changed, done: make(chan struct{})}
	w.add()
	go w.run(ctx)
	return w, nil
}

func (w *watcher) close() {
	_ = w.fs.Close()
	<-w.done
}

// add watches what is there now; what is watched already stays so. A folder that
// cannot be watched, or has gone meanwhile, is left out.
func (w *watcher) add() {
	for _, folder := range w.folders {
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // it went away
			case !d.IsDir():
				return nil
			case path != folder && (temporary(path) || d.Name() == "transcripts"):
				return fs.SkipDir
			}
			_ = w.fs.Add(path)
			return nil
		})
	}
}

// temporary tells whether a file or folder is one in the making: reports are
// renamed to their name when they are whole.
func temporary(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

// run gathers what is written at nearly the same time.
func (w *watcher) run(ctx context.Context) {
	defer close(w.done)
	for {
		if !w.next(ctx) {
			return
		}
		for w.soon(ctx) {
			continue
		}
		w.add()
		w.changed()
	}
}

// next waits for something that matters; false: it is over.
func (w *watcher) next(ctx context.Context) bool {
	for {
		select {
		case e, open := <-w.fs.Events:
			if !open || matters(e) {
				return open
			}
		case _, open := <-w.fs.Errors: // too much at once: look at all of it
			return open
		case <-ctx.Done():
			return false
		}
	}
}

// soon waits for more, but not for long.
func (w *watcher) soon(ctx context.Context) bool {
	ctx, cancel := clock.WithTimeout(ctx, w.wait)
	defer cancel()
	return w.next(ctx)
}

// matters leaves out what no report is made of, and the page itself.
func matters(e fsnotify.Event) bool {
	return !e.Has(fsnotify.Chmod) && !temporary(e.Name) && filepath.Ext(e.Name) != ".html" && filepath.Ext(e.Name) != ".md"
}
