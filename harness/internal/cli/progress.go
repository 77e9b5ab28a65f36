package cli

import (
	"fmt"
	"io"
	"strings"
)

// progress draws a bar on a terminal, and nothing elsewhere.
type progress struct {
	w     io.Writer // nil: no terminal
	shown int       // hundredths of the bar that is drawn; -1 for none
}

func newProgress(sys IO) *progress {
	if !sys.ErrTerminal {
		return &progress{shown: -1}
	}
	return &progress{w: sys.Stderr, shown: -1}
}

// barWidth is the bar's width in characters.
const barWidth = 30

// show draws the bar anew when it has grown by a hundredth.
func (p *progress) show(done, total int) {
	if p.w == nil || total == 0 {
		return
	}
	hundredths := done * 100 / total
	if hundredths == p.shown {
		return
	}
	p.shown = hundredths
	full := done * barWidth / total
	_, _ = fmt.Fprintf(p.w, "\r[%s%s] %d of %d runs", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), done, total)
}

// clear takes the bar away.
func (p *progress) clear() {
	if p.w != nil && p.shown >= 0 {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.shown = -1
}
