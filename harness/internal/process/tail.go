package process

import (
	"fmt"
	"strings"
	"sync"
)

// Tail keeps the last bytes of what is written to it. It may be used by many
// goroutines; it never fails, so that no writer is held up.
type Tail struct {
	limit int

	mu   sync.Mutex
	buf  []byte
	lost int64
}

// NewTail keeps limit bytes.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write never gives an error.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p[max(0, len(p)-t.limit):]...)
	t.lost += int64(max(0, len(p)-t.limit))
	// Cut only when twice as much as wanted is there, so that bytes move seldom.
	if len(t.buf) > 2*t.limit {
		over := len(t.buf) - t.limit
		t.lost += int64(over)
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

// String is what was kept, without white space at its ends; it says how much is
// missing before it.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	over := max(0, len(t.buf)-t.limit)
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.buf[over:]), "\uFFFD"))
	if lost := t.lost + int64(over); lost > 0 {
		return fmt.Sprintf("[%d bytes before] %s", lost, text)
	}
	return text
}
