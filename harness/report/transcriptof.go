package report

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
)

// TranscriptOf is the transcript of an entry of the report in the folder dir,
// which is the folder's own: a report cannot point elsewhere. "" for an entry
// without one. An error is of class world when the file cannot be read, and
// scenario_invalid when the transcript is not where the report says.
func TranscriptOf(dir string, e Entry) (string, error) {
	at := e.Transcript
	if at == nil {
		return "", nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", unreadable(dir, err)
	}
	defer func() { _ = root.Close() }()
	f, err := root.Open(filepath.FromSlash(at.File))
	if err != nil {
		return "", failure.Errorf(failure.World, "%s: the transcript of %s cannot be read: %w", filepath.Join(dir, filepath.FromSlash(at.File)), Title(e.Name, e.Fault), cause(err))
	}
	defer func() { _ = f.Close() }()
	text, err := transcriptAt(f, at, headingOf(&e))
	switch {
	case errors.Is(err, errNoHeading):
		err = failure.Errorf(failure.ScenarioInvalid, "%s:%d: the transcript of %s is not here; the file was changed after the run",
			filepath.Join(dir, filepath.FromSlash(at.File)), at.Line, Title(e.Name, e.Fault))
	case err != nil:
		err = failure.Errorf(failure.World, "%s: %w", filepath.Join(dir, filepath.FromSlash(at.File)), cause(err))
	}
	return text, err
}

var errNoHeading = errors.New("no heading")

// transcriptAt reads the transcript whose heading is at the place: by its byte, or
// by its line where the report does not say the byte or something has changed the
// file's ends of lines.
func transcriptAt(f io.ReadSeeker, at *Place, want string) (string, error) {
	if text, err := byByte(f, at.At, want); err == nil {
		return text, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	in := bufio.NewReader(f)
	for range at.Line - 1 {
		if _, err := in.ReadString('\n'); err != nil {
			return "", errNoHeading
		}
	}
	return below(in, want)
}

func byByte(f io.ReadSeeker, at int64, want string) (string, error) {
	if at == 0 {
		return "", errNoHeading // of an old report, or the first, which is as near by its line
	}
	if _, err := f.Seek(at-1, io.SeekStart); err != nil {
		return "", err
	}
	in := bufio.NewReader(f)
	if before, err := in.ReadByte(); err != nil || before != '\n' {
		return "", errNoHeading
	}
	return below(in, want)
}

// below reads a heading and gives what is below it, up to the next one. A heading
// that names a secret is not the wanted one to the letter.
func below(in *bufio.Reader, want string) (string, error) {
	line, err := in.ReadString('\n')
	line = strings.TrimRight(line, "\r\n")
	if err != nil || line != want && (!strings.HasPrefix(line, heading) || !strings.Contains(line, "[secret ")) {
		return "", errNoHeading
	}
	var b strings.Builder
	for {
		if next, err := in.Peek(len(heading)); err == nil && string(next) == heading {
			break
		}
		line, err := in.ReadString('\n')
		b.WriteString(line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	text := strings.ReplaceAll(b.String(), "\r\n", "\n")
	return strings.TrimSuffix(text, "\n"), nil // the empty line before the next heading
}
