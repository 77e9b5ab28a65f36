package harness

import (
	"errors"
	"sync"

	"github.com/retake-harness/retake/harness/cassette"
)

// Recordings keep the cassettes of runs, and what was found out about them, for a
// caller that runs a scenario many times: a file is read once. The zero value is
// ready, and may be used by many goroutines. It is for runs of one scenario on
// files that nobody changes meanwhile.
type Recordings struct {
	files   sync.Map // path → *once of a *cassette.File
	players sync.Map // playerKey → *once of a *cassette.Player or *cassette.ToolPlayer
}

// playerKey tells apart players of one file.
type playerKey struct {
	path       string
	bare, more bool
}

// once is a value that is made once.
type once[V any] struct {
	do    sync.Once
	value V
	err   error
}

// kept is the value of the key, made when it is first asked for; without a map it
// is made each time.
func kept[V any](m *sync.Map, key any, build func() (V, error)) (V, error) {
	if m == nil {
		return build()
	}
	v, _ := m.LoadOrStore(key, &once[V]{})
	o, _ := v.(*once[V]) // a key is of one type
	o.do.Do(func() { o.value, o.err = build() })
	return o.value, o.err
}

// open reads a cassette; r may be nil.
func (r *Recordings) open(path string) (*cassette.File, error) {
	return kept(r.filesMap(), path, func() (*cassette.File, error) {
		f, err := cassette.Open(path)
		if isMissing(err) {
			err = noRecordingError{err}
		}
		return f, err
	})
}

// noRecordingError tells a cassette that is not there from all else that a run may not
// find: a program, a database.
type noRecordingError struct{ error }

func (e noRecordingError) Unwrap() error { return e.error }

func isUnrecorded(err error) bool {
	_, missing := errors.AsType[noRecordingError](err)
	return missing || errors.Is(err, errUnrecorded)
}

func (r *Recordings) filesMap() *sync.Map {
	if r == nil {
		return nil
	}
	return &r.files
}

func (r *Recordings) playersMap() *sync.Map {
	if r == nil {
		return nil
	}
	return &r.players
}

// player makes a player of f.
func (r *Recordings) player(f *cassette.File, o cassette.Options) (*cassette.Player, error) {
	p, err := kept(r.playersMap(), playerKey{f.Name, o.BareMisses, false}, func() (*cassette.Player, error) { return cassette.NewPlayer(f, o) })
	if err != nil || r == nil {
		return p, err
	}
	return p.Fresh(), nil
}

// toolPlayer makes a player of the tools' cassette f.
func (r *Recordings) toolPlayer(f *cassette.File, o cassette.ToolOptions) (*cassette.ToolPlayer, error) {
	key := playerKey{f.Name, o.BareMisses, o.Again != nil}
	p, err := kept(r.playersMap(), key, func() (*cassette.ToolPlayer, error) { return cassette.NewToolPlayer(f, o) })
	if err != nil || r == nil {
		return p, err
	}
	return p.Fresh(), nil
}
