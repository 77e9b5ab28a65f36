package report

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/redact"
)

// Options configure a Writer.
type Options struct {
	Dir      string // the folder reports/
	ID       string // the run's id, which is the name of its folder; see NewID
	Tool     string // "retake" and its version
	Prices   string // the oldest day of a price in use, "" for none
	Seed     uint64 // that was asked for; 0: each scenario's own
	Parallel int
	Keep     int // how many runs are kept, this one included; 0 keeps all
	// Secrets stand in no file of the report; [secret NAME] does.
	Secrets *redact.Values
}

// Writer writes one run's reports. Everything goes into a folder that takes the
// run's name only when it is whole, so that the last report stays as it is until
// then. A Writer is used by one goroutine.
type Writer struct {
	opts        Options
	temp        string
	file        *os.File
	out         *bufio.Writer
	buf         []byte
	tally       *tally
	rows        []row
	stamps      []Stamp
	started     time.Time
	watch       func() time.Duration
	transcripts *transcripts
	err         error // the first that kept a result from being written
}

// row is what the tables of the Markdown and JUnit reports need of a result.
type row struct {
	name, model, fault, verdict, owner, file string
	figures                                  Figures
	real                                     time.Duration
	reasons                                  []Reason
	warnings                                 []string
}

// NewID makes a run's id of the time and a number that tells apart two runs of
// one second.
func NewID(now time.Time, salt uint32) string {
	return fmt.Sprintf("%s-%08x", now.UTC().Format(idTime), salt)
}

// New begins a report. An error is of class world and leaves nothing behind.
func New(opts Options) (*Writer, error) {
	w := &Writer{
		opts: opts, tally: newTally(), started: clock.Wallclock(), watch: clock.Stopwatch(),
		temp: filepath.Join(opts.Dir, "."+opts.ID+".partial"),
	}
	err := os.MkdirAll(w.temp, 0o755)
	if err == nil {
		w.file, err = os.Create(filepath.Join(w.temp, "report.json"))
	}
	if err != nil {
		_ = os.RemoveAll(w.temp)
		return nil, failure.Errorf(failure.World, "%s: the report cannot be written: %w; name a writable folder with --reports DIR", opts.Dir, err)
	}
	w.transcripts = newTranscripts(w.temp, opts.Secrets)
	w.out = bufio.NewWriterSize(w.file, 64<<10)
	_, _ = fmt.Fprintf(w.out, "{\"schema\":%q,\n\"scenarios\":[", Schema) // an error shows at Flush
	return w, nil
}

// Add writes one result. Results come in the order that the report shall have.
// After an error the report is not published: Close returns the error too.
func (w *Writer) Add(r *harness.Result) error {
	err := w.add(r)
	if w.err == nil {
		w.err = err
	}
	return err
}

func (w *Writer) add(r *harness.Result) error {
	e := EntryOf(r)
	var err error
	if e.Transcript, err = w.transcripts.add(r); err != nil {
		return w.failed(err)
	}
	if w.buf, err = appendJSON(w.buf[:0], &e); err != nil {
		return w.failed(err)
	}
	sep := ",\n"
	if len(w.rows) == 0 {
		sep = "\n"
	}
	_, _ = w.out.WriteString(sep)
	if err := w.json(w.buf); err != nil {
		return w.failed(err)
	}
	w.tally.add(r)
	w.stamps = append(w.stamps, stampOf(r))
	w.rows = append(w.rows, row{
		// These may be pieces of the scenario's whole text, which must not stay in
		// memory for their sake.
		name: strings.Clone(e.Name), model: strings.Clone(e.Model), fault: strings.Clone(e.Fault), verdict: e.Verdict,
		owner: strings.Clone(e.Owner), file: strings.Clone(e.File),
		figures: e.Figures, real: r.Real, reasons: e.Reasons, warnings: e.Warnings,
	})
	return nil
}

// json writes a JSON object, fit to be read by everybody.
func (w *Writer) json(b []byte) error {
	_, err := w.out.Write(jsondoc.EscapeBidi(w.opts.Secrets.Bytes(b)))
	return err
}

func (w *Writer) failed(err error) error {
	return failure.Errorf(failure.World, "%s: writing the report: %w", w.opts.Dir, err)
}

// Totals are the sums so far.
func (w *Writer) Totals() Totals { return w.tally.result() }

// Close ends the report, gives its folder its name and points reports/latest to
// it. interrupted says that not all scenarios were run. It returns the folder,
// which is there even with an error when it is not "".
func (w *Writer) Close(interrupted bool) (dir string, err error) {
	defer func() {
		if err != nil {
			w.Discard()
		}
	}()
	if w.err != nil {
		return "", w.err
	}
	totals := w.tally.result()
	if err := w.tail(totals, interrupted); err != nil {
		return "", w.failed(err)
	}
	for name, text := range map[string][]byte{
		"report.md": w.markdown(totals), "junit.xml": w.junit(totals),
	} {
		if err := os.WriteFile(filepath.Join(w.temp, name), w.opts.Secrets.Bytes(text), 0o644); err != nil {
			return "", w.failed(err)
		}
	}
	dir = filepath.Join(w.opts.Dir, w.opts.ID)
	if err := os.Rename(w.temp, dir); err != nil {
		return "", w.failed(err)
	}
	err = pointLatest(w.opts.Dir, w.opts.ID, os.Symlink)
	w.prune()
	if err != nil && failure.Of(err) != failure.World {
		err = w.failed(err)
	}
	return dir, err
}

// tail writes what follows the scenarios in report.json.
func (w *Writer) tail(totals Totals, interrupted bool) error {
	_, _ = w.out.WriteString("\n],\n\"totals\":")
	b, err := appendJSON(w.buf[:0], &totals)
	if err != nil {
		return err
	}
	_ = w.json(b) // an error shows at Flush
	run := Run{
		Tool: w.opts.Tool, Go: runtime.Version(), Seed: w.opts.Seed, Prices: w.opts.Prices,
		Volatile: Volatile{
			ID: w.opts.ID, Started: w.started.UTC().Format(time.RFC3339Nano), Ended: clock.Wallclock().UTC().Format(time.RFC3339Nano),
			Real: micros(w.watch()), Stopped: interrupted, Parallel: w.opts.Parallel, Entries: w.stamps,
		},
	}
	_, _ = w.out.WriteString(",\n\"run\":")
	if b, err = appendJSON(b[:0], &run); err != nil {
		return err
	}
	_ = w.json(b)
	_, _ = w.out.WriteString("}\n")
	if err := w.transcripts.close(); err != nil {
		return err
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	return w.file.Close()
}

// Discard removes an unfinished report.
func (w *Writer) Discard() {
	_ = w.transcripts.close()
	_ = w.file.Close()
	_ = os.RemoveAll(w.temp)
}
