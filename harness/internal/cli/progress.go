package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/internal/live"
	"github.com/retake-harness/retake/harness/report"
)

// progress shows how far something is: on a terminal in one line below what is
// printed, which is drawn anew and leaves nothing behind; elsewhere, when it takes
// long, in a plain line now and then. It may be used by many goroutines.
type progress struct {
	w     io.Writer
	line  bool // there is a terminal to draw a line on
	quiet bool // no plain lines
	width func() int
	watch func() time.Duration

	mu    sync.Mutex
	shown string        // the line on the terminal, "" for none
	text  string        // what it should be
	last  time.Duration // when it was drawn, or a plain line was written
}

func newProgress(sys IO) *progress {
	p := &progress{w: sys.Stderr, width: sys.Width, watch: clock.Stopwatch()}
	p.line = sys.ErrTerminal && sys.Getenv != nil && sys.Getenv("TERM") != "dumb"
	if p.width == nil {
		p.width = func() int { return 0 }
	}
	return p
}

const (
	// barWidth is the bar's width in characters.
	barWidth = 30
	// usualWidth is a terminal's where it does not say.
	usualWidth = 80
	// redrawn is how often the line is drawn at most, for the eye's sake and for that
	// of what else is to do.
	redrawn = 100 * time.Millisecond
	// Plain lines begin after a while, and then come now and then.
	firstPlain, nextPlain = 10 * time.Second, 30 * time.Second
)

// show says how many of the runs are done, with a bar.
func (p *progress) show(done, total int) {
	if total == 0 {
		return
	}
	full := done * barWidth / total
	p.say(done == total,
		fmt.Sprintf("[%s%s] %d of %d runs", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), done, total),
		fmt.Sprintf("%d/%d", done, total))
}

// say shows the first of the texts that fits, or what fits of the last one. At the
// end, and when nothing is shown yet, it is drawn at once.
func (p *progress) say(end bool, texts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.watch()
	if !p.line {
		p.plain(now, texts[0])
		return
	}
	p.text = p.fit(texts)
	if p.shown != "" && !end && now-p.last < redrawn {
		return
	}
	p.last = now
	p.draw()
}

// plain writes a line where there is no terminal.
func (p *progress) plain(now time.Duration, text string) {
	due := nextPlain
	if p.last == 0 {
		due = firstPlain
	}
	if p.quiet || now-p.last < due {
		return
	}
	p.last = now
	_, _ = fmt.Fprintln(p.w, text)
}

func (p *progress) columns() int {
	if n := p.width(); n > 0 {
		return n
	}
	return usualWidth
}

// fit leaves the last column free: a line that ends there goes on in the next one.
func (p *progress) fit(texts []string) string {
	room := max(p.columns()-1, 1)
	for _, text := range texts {
		if utf8.RuneCountInString(text) <= room {
			return text
		}
	}
	return string([]rune(texts[len(texts)-1])[:room])
}

// draw puts the text where the line is. The lock is held.
func (p *progress) draw() {
	if p.text == p.shown {
		return
	}
	p.erase()
	_, _ = io.WriteString(p.w, p.text)
	p.shown = p.text
}

// erase takes the line away, with all rows that it has become where the terminal
// was made narrower. The lock is held.
func (p *progress) erase() {
	if p.shown == "" {
		return
	}
	up := ""
	if rows := (utf8.RuneCountInString(p.shown) - 1) / p.columns(); rows > 0 {
		up = fmt.Sprintf("\x1b[%dA", rows)
	}
	_, _ = io.WriteString(p.w, "\r"+up+"\x1b[J")
	p.shown = ""
}

// above prints something above the line, which is then drawn below it.
func (p *progress) above(show func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	show()
	if p.line && p.text != "" {
		p.draw()
	}
}

// clear takes the line away.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.text = ""
}

// way is how far a run of scenarios is.
type way struct {
	done, total int // scenarios
	failed      int // runs
	tokens      int64
	cost        *float64
}

// texts are the ways to spell it, from the longest to the shortest.
func (w *way) texts(took time.Duration) []string {
	parts := []string{fmt.Sprintf("%d of %s", w.done, report.Count(w.total, "scenario"))}
	if w.failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", w.failed))
	}
	parts = append(parts, live.Thousands(w.tokens)+" tokens")
	if w.cost != nil {
		parts = append(parts, report.Dollars(w.cost))
	}
	if w.done > 0 && took >= time.Second {
		parts = append(parts, fmt.Sprintf("%.1f/s", float64(w.done)/took.Seconds()))
		if left := took * time.Duration(w.total-w.done) / time.Duration(w.done); left > 0 {
			parts = append(parts, left.Round(time.Second).String()+" left")
		}
	}
	var out []string
	for n := len(parts); n > 0; n-- {
		out = append(out, strings.Join(parts[:n], ", "))
	}
	return append(out, fmt.Sprintf("%d/%d", w.done, w.total))
}
