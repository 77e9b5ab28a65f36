package doc_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/internal/cli"
)

const root = "../.."

// block is a fenced block of the README.
type block struct {
	kind string // info string
	file string // of the comment before it, "" for none
	text string
	line int
}

var fileMark = regexp.MustCompile(`^<!-- file: (\S+) -->$`)

func blocks(t *testing.T) (text string, out []block) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var open *block
	mark := ""
	for i, line := range strings.Split(string(b), "\n") {
		switch {
		case open != nil && line == "```":
			out = append(out, *open)
			open, mark = nil, ""
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(line, "```"):
			open = &block{kind: strings.TrimPrefix(line, "```"), file: mark, line: i + 1}
		default:
			if m := fileMark.FindStringSubmatch(line); m != nil {
				mark = m[1]
			}
		}
	}
	return string(b), out
}

func TestREADMEIsShort(t *testing.T) {
	text, _ := blocks(t)
	if n := strings.Count(text, "\n"); n > 150 {
		t.Errorf("README.md has %d lines, at most 150", n)
	}
}

// Every block is run, or is a piece of a file of this repository.
func TestREADMEBlocks(t *testing.T) {
	_, all := blocks(t)
	ci, err := os.ReadFile(filepath.Join(root, ".ci/run"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	for _, b := range all {
		switch {
		case b.kind == "console":
			runConsole(t, b)
		case b.kind == "sh":
			for command := range strings.SplitSeq(strings.TrimSpace(b.text), "\n") {
				if strings.HasPrefix(command, "go run ./harness/cmd/retake ") {
					retake(t, command)
				} else if !strings.Contains(string(ci), "\n"+command+"\n") {
					t.Errorf("README.md:%d: %q is not run by .ci/run", b.line, command)
				}
			}
		case b.file != "":
			source, err := os.ReadFile(b.file)
			if err != nil || !bytes.Contains(source, []byte(b.text)) {
				t.Errorf("README.md:%d: the block is no piece of %s (%v)", b.line, b.file, err)
			}
		default:
			t.Errorf("README.md:%d: a block of kind %q that nothing tests", b.line, b.kind)
		}
	}
}

// volatile is what differs from run to run: real time and the run's id.
var volatile = regexp.MustCompile(`(?m) +[0-9]+\.[0-9]{2} ms$|^report: .*$`)

func runConsole(t *testing.T, b block) {
	t.Helper()
	command, want, _ := strings.Cut(b.text, "\n")
	got := retake(t, strings.TrimPrefix(command, "$ "))
	mask := func(s string) string { return volatile.ReplaceAllString(s, "~") }
	if d := cmp.Diff(mask(want), mask(got)); d != "" {
		t.Errorf("README.md:%d: %s\n-README +now\n%s", b.line, command, d)
	}
}

// retake runs the command line in this process, with reports in a folder of the
// test's.
func retake(t *testing.T, command string) string {
	t.Helper()
	words := strings.Fields(strings.TrimPrefix(command, "go run ./harness/cmd/retake "))
	var out bytes.Buffer
	code := cli.Main(append(words, "--reports", t.TempDir()), cli.IO{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Context: context.Background(),
		Getenv: func(string) string { return "" },
	})
	if code > 1 {
		t.Errorf("%s: exit code %d\n%s", command, code, out.String())
	}
	return out.String()
}

var packageLink = regexp.MustCompile(`\[harness[/a-z]*\]\((harness[/a-z]*)\)`)

// The table of packages names every public one, and none that is gone.
func TestREADMEPackages(t *testing.T) {
	text, _ := blocks(t)
	named := map[string]bool{}
	for _, m := range packageLink.FindAllStringSubmatch(text, -1) {
		named[m[1]] = true
	}
	dirs, err := filepath.Glob(filepath.Join(root, "harness", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		name := "harness/" + filepath.Base(dir)
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 || name == "harness/doc" || name == "harness/referee" {
			continue
		}
		if !named[name] {
			t.Errorf("README.md does not name the package %s", name)
		}
	}
	for name := range named {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("README.md names %s: %v", name, err)
		}
	}
}

// Each change begins with its kind, and speaks to users.
func TestChanges(t *testing.T) {
	files, err := filepath.Glob("changes/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no changes: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`^(Fix|Add|Change): `).Match(b) {
			t.Errorf("%s must begin with Fix:, Add: or Change:", f)
		}
	}
}
