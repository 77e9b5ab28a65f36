package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/transcript"
)

// golden holds the transcript against the file, or writes the file when that was
// asked for and nothing else is wrong.
func (w *world) golden() {
	if !w.env.Scenario.Expect.Golden || w.params.Live {
		return
	}
	path := Golden(w.params.GoldenDir, w.result.Name, w.result.Model)
	if v := w.result.Variant; v != "" {
		path = UnderVariant(path, v)
	}
	want, err := file.Read(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		w.fail(Failure{
			Class: failure.World, Part: failure.PartHarness, Where: path, What: "reading the golden: " + err.Error(),
			Why: "without it nothing can be compared", Next: "make the file readable",
		}, "")
		return
	}
	switch {
	case w.params.Update:
		w.accept(path, want)
	case missing:
		w.goldenFailure(failure.PartScenario, path, "there is no golden transcript yet", "what nobody has reviewed cannot be kept", "")
	case bytes.Contains(want, []byte("\r\n")):
		w.damaged(path)
	case !bytes.Equal(want, w.result.Transcript):
		w.goldenFailure(goldenPart(want, w.result.Transcript), path, "the transcript is not the golden one",
			"the critical path is no longer what was reviewed", transcript.Diff(want, w.result.Transcript))
	}
}

// accept writes the transcript as the golden. A run that failed otherwise is not
// accepted: its transcript would become the measure of later ones.
func (w *world) accept(path string, old []byte) {
	if len(w.result.Failures) > 0 {
		w.goldenFailure(w.result.Part(), path, "the golden was not accepted: mend the other failures first",
			"a failed run must not become the measure of later ones", "")
		return
	}
	if bytes.Equal(old, w.result.Transcript) {
		return
	}
	if name, found := w.params.Secrets.Found(w.result.Transcript); found {
		w.secretInGolden(path, name)
		return
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = file.Replace(path, w.result.Transcript)
	}
	if err != nil {
		w.fail(Failure{
			Class: failure.World, Part: failure.PartHarness, Where: path, What: "writing the golden: " + err.Error(),
			Why: "nothing was accepted", Next: "make the folder writable",
		}, "")
		return
	}
	w.result.Accepted = true
}

func (w *world) secretInGolden(path, name string) {
	w.fail(Failure{
		Class: failure.Contract, Part: failure.PartAgent, Where: path,
		What: "the golden was not written: the transcript has the value of the secret " + name,
		Why:  "a golden is committed, and everybody who reads the repository reads it",
		Next: "keep the secret from the model and the tools' results; if it is in the recording, take it out there and renew it",
	}, "")
}

func (w *world) goldenFailure(part failure.Part, path, what, why, diff string) {
	w.fail(Failure{
		Class: failure.Golden, Part: part, Where: path, What: what, Diff: diff, Why: why,
		Next: fmt.Sprintf("accept with: retake run %s --accept (under go test: RETAKE_UPDATE=1)", w.result.args()),
	}, "")
}

func (w *world) damaged(path string) {
	w.fail(Failure{
		Class: failure.GoldenInvalid, Part: failure.PartHarness, Where: path,
		What: "the golden has CRLF line ends; goldens are compared byte by byte",
		Why:  "a checkout that changes line ends makes every comparison wrong",
		Next: "add `golden/** -text` to .gitattributes, then write the file anew: retake run " + w.result.args() + " --accept",
	}, "")
}
