package report

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
	Go       string // the version of Go; "" is this one's
	Prices   string // the oldest day of a price in use, "" for none
	Seed     uint64 // that was asked for; 0: each scenario's own
	Rubric   string // hash of the questions that are in force; "" for none
	Parallel int
	Keep     int // how many runs are kept, this one included; 0 keeps all
	Live     bool
	Trials   int    // that were asked for; 0 and 1 are one
	Shard    *Shard // nil: the run is whole
	// Folder is the report's own folder below Dir where it is not the run's:
	// reports/latest is then left as it is, and no other run is removed.
	Folder string
	// Secrets stand in no file of the report; [secret NAME] does.
	Secrets *redact.Values
}

// Writer writes one run's reports. Everything goes into a folder that takes the
// run's name only when it is whole, so that the last report stays as it is until
// then. A Writer is used by one goroutine.
type Writer struct {
	opts    Options
	temp    string
	tally   *tally
	count   int
	buf     []byte
	started time.Time
	watch   func() time.Duration
	err     error // the first that kept a result from being written

	json, stamps *part
	transcripts  *transcripts
	drawings     []drawing
	md           *markdown
}

// drawing is another view of the entries, which grows with them.
type drawing interface {
	add(e *Entry, took time.Duration) error
	// close ends it; run tells of the run as a whole.
	close(t *Totals, run *Run) error
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
		temp: filepath.Join(opts.Dir, "."+opts.ID+".partial"), md: newMarkdown(opts.Secrets),
	}
	if err := w.open(); err != nil {
		w.Discard()
		return nil, failure.Errorf(failure.World, "%s: the report cannot be written: %w; name a writable folder with --reports DIR", opts.Dir, err)
	}
	w.transcripts = newTranscripts(w.temp, opts.Secrets)
	_, _ = fmt.Fprintf(w.json, "{\"schema\":%q,\n\"scenarios\":[", Schema) // an error shows at Flush
	return w, nil
}

func (w *Writer) open() (err error) {
	if err := os.MkdirAll(w.temp, 0o755); err != nil {
		return err
	}
	if w.json, err = openPart(w.temp, "report.json"); err != nil {
		return err
	}
	if w.stamps, err = openPart(w.temp, ".stamps"); err != nil {
		return err
	}
	for _, begin := range []func(dir string, secrets *redact.Values) (drawing, error){beginJUnit, beginCSV, beginBench} {
		d, err := begin(w.temp, w.opts.Secrets)
		if err != nil {
			return err
		}
		w.drawings = append(w.drawings, d)
	}
	return nil
}

// Add writes one result. Results come in the order that the report shall have.
// After an error the report is not published: Close returns the error too.
func (w *Writer) Add(r *harness.Result) error {
	e := EntryOf(r)
	return w.AddEntry(&e, stampOf(r), r.Transcript)
}

// AddEntry writes an entry, which may be of another report, with its ids and its
// transcript. It says in the entry where the transcript is.
func (w *Writer) AddEntry(e *Entry, stamp Stamp, transcript []byte) error {
	err := w.add(e, &stamp, transcript)
	if err != nil {
		err = w.failed(err)
	}
	if w.err == nil {
		w.err = err
	}
	return err
}

func (w *Writer) add(e *Entry, stamp *Stamp, transcript []byte) (err error) {
	if e.Transcript, err = w.transcripts.add(e, transcript); err != nil {
		return err
	}
	sep := ",\n"
	if w.count == 0 {
		sep = "\n"
	}
	w.count++
	if err := w.value(w.json, sep, e); err != nil {
		return err
	}
	if err := w.value(w.stamps, sep[:len(sep)-1], stamp); err != nil {
		return err
	}
	w.tally.add(e)
	w.md.add(e)
	for _, d := range w.drawings {
		if err := d.add(e, time.Duration(stamp.Real)*time.Microsecond); err != nil {
			return err
		}
	}
	return nil
}

// value writes a JSON value, fit to be read by everybody.
func (w *Writer) value(to *part, before string, v any) error {
	b, err := appendJSON(append(w.buf[:0], before...), v)
	w.buf = b
	if err != nil {
		return err
	}
	_, err = to.Write(jsondoc.EscapeBidi(w.opts.Secrets.Bytes(b)))
	return err
}

func (w *Writer) failed(err error) error {
	return failure.Errorf(failure.World, "%s: writing the report: %w", w.opts.Dir, err)
}

// Totals are the sums so far.
func (w *Writer) Totals() Totals { return w.tally.result() }

// Markdown is report.md as it would be if the run ended now.
func (w *Writer) Markdown() []byte {
	totals := w.Totals()
	return w.md.text(&totals)
}

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
	if err := w.finish(interrupted); err != nil {
		return "", w.failed(err)
	}
	if w.opts.Folder != "" {
		return w.publishAlone()
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

func (w *Writer) publishAlone() (string, error) {
	dir := filepath.Join(w.opts.Dir, w.opts.Folder)
	if err := os.Rename(w.temp, dir); err != nil {
		return "", w.failed(err)
	}
	return dir, nil
}

// finish writes what can only be told at the end.
func (w *Writer) finish(interrupted bool) error {
	totals := w.tally.result()
	run := w.run(interrupted)
	if err := w.tail(&totals, &run); err != nil {
		return err
	}
	for _, d := range w.drawings {
		if err := d.close(&totals, &run); err != nil {
			return err
		}
	}
	w.drawings = nil
	if err := w.transcripts.close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.temp, "report.md"), w.md.text(&totals), 0o644)
}

func (w *Writer) run(interrupted bool) Run {
	run := Run{
		Tool: w.opts.Tool, Go: w.opts.Go, Seed: w.opts.Seed, Rubric: w.opts.Rubric, Prices: w.opts.Prices, Live: w.opts.Live, Shard: w.opts.Shard,
		Volatile: Volatile{
			ID: w.opts.ID, Started: w.started.UTC().Format(time.RFC3339Nano), Ended: clock.Wallclock().UTC().Format(time.RFC3339Nano),
			Real: micros(w.watch()), Stopped: interrupted, Parallel: w.opts.Parallel, Entries: []Stamp{},
		},
	}
	if run.Go == "" {
		run.Go = runtime.Version()
	}
	if w.opts.Trials > 1 {
		run.Trials = w.opts.Trials
	}
	return run
}

// endOfRun is what stands after the stamps, which are written to where their list
// is empty.
const endOfRun = "]}}"

// tail writes what follows the scenarios in report.json.
func (w *Writer) tail(totals *Totals, run *Run) error {
	if err := w.value(w.json, "\n],\n\"totals\":", totals); err != nil {
		return err
	}
	b, err := appendJSON([]byte(",\n\"run\":"), run)
	if err != nil {
		return err
	}
	b = jsondoc.EscapeBidi(w.opts.Secrets.Bytes(b))
	if _, err := w.json.Write(b[:len(b)-len(endOfRun)]); err != nil {
		return err
	}
	if err := w.stamps.copyTo(w.json); err != nil {
		return err
	}
	if _, err := w.json.Write([]byte(endOfRun + "}\n")); err != nil {
		return err
	}
	return w.json.close()
}

// Discard removes an unfinished report.
func (w *Writer) Discard() {
	if w.transcripts != nil {
		_ = w.transcripts.close()
	}
	for _, p := range []*part{w.json, w.stamps} {
		if p != nil {
			_ = p.file.Close()
		}
	}
	for _, d := range w.drawings {
		_ = d.close(&Totals{}, &Run{})
	}
	_ = os.RemoveAll(w.temp)
}
