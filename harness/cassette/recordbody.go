package cassette

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// taking is the body of an answer on its way to the client. What is read of it is
// kept, with the times at which it came; at its end, or where the client leaves it,
// the whole is handed over once.
type taking struct {
	from  io.ReadCloser
	watch func() time.Duration
	over  func(taken) // called once, outside of any lock

	mu     sync.Mutex
	got    []byte
	chunks []Chunk
	ended  bool
}

// taken is what was read of a body, and how that ended.
type taken struct {
	body   []byte
	chunks []Chunk
	took   time.Duration
	whole  bool  // it was read to its end
	broken error // what the transport ended it with; nil where the client has left
}

func (t *taking) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	t.mu.Lock()
	if n > 0 && !t.ended {
		t.got = append(t.got, p[:n]...)
		t.arrived()
	}
	t.mu.Unlock()
	switch err {
	case nil:
	case io.EOF:
		t.end(true, nil)
	default:
		t.end(false, err)
	}
	return n, err
}

// nearby is how close together bytes arrive that are one chunk: what a stream of a
// model sends at once comes in several reads.
const nearby = time.Millisecond

// arrived notes the time of what was read last.
func (t *taking) arrived() {
	now := t.watch().Microseconds()
	if n := len(t.chunks); n > 0 && now-t.chunks[n-1].Micros < nearby.Microseconds() {
		t.chunks[n-1].Bytes = len(t.got)
		return
	}
	t.chunks = append(t.chunks, Chunk{Bytes: len(t.got), Micros: now})
}

func (t *taking) Close() error {
	err := t.from.Close()
	t.end(false, nil)
	return err
}

// end hands over, the first time.
func (t *taking) end(whole bool, broken error) {
	t.mu.Lock()
	first := !t.ended
	t.ended = true
	out := taken{t.got, t.chunks, t.watch(), whole, broken}
	t.mu.Unlock()
	if first {
		t.over(out)
	}
}

// pace are the chunks that are worth keeping: of a body that was announced whole, or
// came at once, there is nothing to tell.
func (t *taken) pace(resp *http.Response) []Chunk {
	if resp.ContentLength >= 0 || len(t.chunks) == 0 ||
		len(t.chunks) == 1 && t.took.Microseconds()-t.chunks[0].Micros < nearby.Microseconds() {
		return nil
	}
	return t.chunks
}
