package lint

import (
	"strings"

	"github.com/retake-harness/retake/harness/internal/file"
)

const mark = "# retake:lint "

// Comments are the suppressions that a file of the project has in comments:
//
//	# retake:lint tool/no-output-schema The answer is free text.
//
// It is for what is found in its own line, and where it stands alone, in the line
// after it. A file that cannot be read has none.
func Comments(name string) []Suppression {
	text, err := file.Read(name)
	if err != nil {
		return nil
	}
	var out []Suppression
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		before, comment, ok := strings.Cut(line, mark)
		if !ok || before != "" && !strings.HasSuffix(before, " ") {
			continue
		}
		rule, reason, _ := strings.Cut(strings.TrimSpace(comment), " ")
		at := i + 1
		if strings.TrimSpace(before) == "" {
			at = below(lines, i)
		}
		out = append(out, Suppression{
			Rule: rule, Reason: strings.TrimSpace(reason), Line: at, Asked: true,
			Place: Place{File: name, Line: i + 1, Column: len([]rune(before)) + 1},
		})
	}
	return out
}

// below is the number of the next line that is no comment.
func below(lines []string, i int) int {
	for i++; i < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i]), "#"); i++ {
		continue
	}
	return i + 1
}
