package process

import "bytes"

// longestLine is how much of a line is kept.
const longestLine = 1 << 10

// lines cuts what is written to it into lines. It never fails.
type lines struct {
	each func(line string)
	buf  []byte
}

func (l *lines) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		l.buf = append(l.buf, line[:min(len(line), longestLine-len(l.buf))]...)
		if whole {
			l.each(string(bytes.TrimSuffix(l.buf, []byte("\r"))))
			l.buf = l.buf[:0]
		}
		rest = after
	}
	return len(p), nil
}
