package cassette

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/redact"
)

// session is what the recorders of model and tools have in common: exchanges in
// the order in which they began, kept on disk as they end, written as a cassette
// when all is over.
type session struct {
	path    string
	notes   FileNotes
	secrets *redact.Values
	disk    disk

	mu       sync.Mutex
	slots    []*slot
	numbered int // the last number in the partial file
	partial  *partial
	leftover []bool // by kept exchange: nobody has asked for it
	kept     int
	filed    int
	refused  []error
	warnings []string
	over     bool
	found    bool // the partial file had exchanges when it was opened
}

// slot is the place of one exchange in the order of their beginnings.
type slot struct {
	number int          // in the partial file
	in     *Interaction // nil until it has ended
	cancel func()       // ends it as it is; nil where nothing is open
}

// openSession takes up what an interrupted session of the same notes has kept, in
// the order of the requests. again redacts it anew; what then has a secret is not
// given.
func openSession(d disk, path string, notes FileNotes, secrets *redact.Values, again func(*Interaction)) (*session, []Interaction, error) {
	if err := replaceable(path); err != nil {
		return nil, nil, err
	}
	notes.Source, notes.RecordedAt = Recorded, clock.Wallclock().UTC().Format(time.RFC3339)
	s := &session{path: path, notes: notes, secrets: secrets, disk: d}
	kept, err := s.takeUp()
	if err != nil {
		return nil, nil, err
	}
	if s.partial, err = openPartial(d, PartialPath(path), kept.size); err != nil {
		return nil, nil, err
	}
	if kept.size == 0 {
		if err := s.beginPartial(); err != nil {
			return nil, nil, errors.Join(err, s.partial.close())
		}
	}
	return s, s.usable(kept, again), nil
}

func (s *session) usable(kept keptRecords, again func(*Interaction)) []Interaction {
	slices.SortStableFunc(kept.records, func(a, b record) int { return a.number - b.number })
	var out []Interaction
	for _, r := range kept.records {
		s.found, s.numbered = true, max(s.numbered, r.number)
		in := r.in
		if in.Notes == nil {
			in.Notes = &Notes{}
		}
		if in.Notes.RecordedAt == "" {
			in.Notes.RecordedAt = kept.notes.RecordedAt
		}
		again(&in)
		if at := findSecret(s.secrets, &in); at != nil {
			s.warn("%s: exchange %d is not used: %s; remove that file when the recording is done", s.partial.path, r.number, at)
			continue
		}
		out = append(out, in)
	}
	return out
}

// takeUp reads what was kept, and sets it aside where it belongs to something else.
func (s *session) takeUp() (keptRecords, error) {
	path := PartialPath(s.path)
	kept, ok, err := readPartial(path)
	if !ok || err != nil {
		return keptRecords{}, err
	}
	if kept.torn {
		s.warn("%s: the last exchange of an interrupted recording was not written to its end, and is dropped", path)
	}
	if len(kept.records) == 0 {
		return keptRecords{}, nil
	}
	if why := differs(kept.notes, s.notes); why != "" {
		to, err := setAside(s.disk, path)
		if err != nil {
			return keptRecords{}, err
		}
		s.warn("%s: it keeps %d exchanges of an interrupted recording with another %s; they are not used, and are now in %s", path, len(kept.records), why, to)
		return keptRecords{}, nil
	}
	return kept, nil
}

// differs names what two recordings were not made alike with.
func differs(a, b FileNotes) string {
	for _, p := range []struct{ what, a, b string }{
		{"model", a.Model, b.Model},
		{"prompt", a.Hashes.System, b.Hashes.System},
		{"set of tools", a.Hashes.Tools, b.Hashes.Tools},
		{"scenario", a.Hashes.Scenario, b.Hashes.Scenario},
	} {
		if p.a != p.b {
			return p.what
		}
	}
	return ""
}

// beginPartial writes the record of the notes, so that a folder that cannot be
// written to is known before anything is paid for.
func (s *session) beginPartial() error {
	head := &File{Name: s.path, Version: 2, Notes: s.notes}
	text, err := Encode(nil, head)
	if err != nil {
		return err
	}
	if name, found := s.secrets.Found(text); found {
		return failure.Errorf(failure.World, "%s: nothing is recorded: the notes for it have the value of the secret %s", s.path, name)
	}
	return s.partial.append(0, text)
}

func (s *session) warn(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

// begin takes the next place in the order.
func (s *session) begin() (*slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place()
}

func (s *session) place() (*slot, error) {
	if s.over {
		return nil, failure.Errorf(failure.Internal, "%s: an exchange began after the recording was over", s.path)
	}
	s.numbered++
	o := &slot{number: s.numbered}
	s.slots = append(s.slots, o)
	return o, nil
}

// reuse takes the next place for a kept exchange that pick finds; nil where it finds
// none, and then the place is for a new one. Both happen at once, so that equal
// requests get kept exchanges in their own order.
func (s *session) reuse(kept []Interaction, pick func() int) (o *slot, found *Interaction, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, err = s.place(); err != nil {
		return nil, nil, err
	}
	i := pick()
	if i < 0 {
		return o, nil, nil
	}
	s.leftover[i] = false
	s.kept++
	o.in = &kept[i]
	return o, o.in, nil
}

// client notes the name that a client gives itself, where the notes have none.
func (s *session) client(userAgent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.notes.SDK == "" {
		s.notes.SDK = userAgent
	}
}

// file keeps an exchange that has ended, unless it has a secret.
func (s *session) file(o *slot, in Interaction) {
	text, err := s.encode(o, &in)
	if err == nil {
		err = s.partial.append(o.number, text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case text == nil:
		s.refused = append(s.refused, err)
		return
	case s.over:
		return
	case err != nil:
		s.warnings = append(s.warnings, s.secrets.Text(err.Error())+"; the exchange is kept in memory alone until the recording is finished")
	}
	o.in = &in
	s.filed++
}

// encode is the exchange as a cassette of its own; no text where it is refused.
func (s *session) encode(o *slot, in *Interaction) ([]byte, error) {
	if at := findSecret(s.secrets, in); at != nil {
		return nil, s.refusal(o, at)
	}
	text, err := Encode(nil, &File{Name: s.path, Version: 2, Interactions: []Interaction{*in}})
	if err != nil {
		return nil, err
	}
	if name, at, found := s.secrets.Where(text); found {
		return nil, s.refusal(o, &leakError{name, fmt.Sprintf("its record, at byte %d,", at)})
	}
	return text, nil
}

func (s *session) refusal(o *slot, at *leakError) error {
	return fmt.Errorf("exchange %d: %w", o.number, at)
}

// refuse tells of an exchange that cannot be kept.
func (s *session) refuse(o *slot, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, fmt.Errorf("exchange %d: %w", o.number, err))
}

// counts are the exchanges that were taken over, and those that are new.
func (s *session) counts() (kept, filed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept, s.filed
}

func (s *session) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.warnings...)
}

// finish writes the cassette and removes the partial file. Where it cannot, or may
// not, all stays as it is.
func (s *session) finish() error {
	s.settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return failure.Errorf(failure.Internal, "%s: the recording is over already", s.path)
	}
	if err := s.refusals(); err != nil {
		return err
	}
	f := &File{Name: s.path, Version: 2, Notes: s.notes}
	unanswered := 0
	for _, o := range s.slots {
		if o.in == nil {
			unanswered++
			continue
		}
		f.Interactions = append(f.Interactions, *o.in)
		if n := o.in.Notes; n != nil && n.RecordedAt != "" {
			f.Notes.RecordedAt = min(f.Notes.RecordedAt, n.RecordedAt) // all are in UTC
		}
	}
	if unanswered > 0 {
		s.warnings = append(s.warnings, fmt.Sprintf("%s: %d requests had no answer yet when the recording was over; they are not in it", s.path, unanswered))
	}
	if len(f.Interactions) > 0 {
		if err := s.write(f); err != nil {
			return err
		}
	}
	s.over = true
	return s.endPartial()
}

// settle ends what is open.
func (s *session) settle() {
	s.mu.Lock()
	var open []func()
	for _, o := range s.slots {
		if o.in == nil && o.cancel != nil {
			open = append(open, o.cancel)
		}
	}
	s.mu.Unlock()
	for _, cancel := range open {
		cancel()
	}
}

// shownRefusals bounds the refused exchanges in a message.
const shownRefusals = 3

func (s *session) refusals() error {
	n := len(s.refused)
	if n == 0 {
		return nil
	}
	var what []string
	for _, err := range s.refused[:min(n, shownRefusals)] {
		what = append(what, err.Error())
	}
	more := ""
	if n > shownRefusals {
		more = fmt.Sprintf(" and %d more", n-shownRefusals)
	}
	return failure.Errorf(failure.World, "%s: not written, since cassettes are committed: %s%s; keep it out of what is sent and answered, or name its place under redact in retake.yaml, and record again: the other exchanges are kept",
		s.path, strings.Join(what, "; "), more)
}

func (s *session) write(f *File) error {
	data, err := Encode(nil, f)
	if err != nil {
		return err
	}
	if name, at, found := s.secrets.Where(data); found {
		return failure.Errorf(failure.World, "%s: not written, since cassettes are committed: at byte %d of it stands the value of the secret %s", s.path, at, name)
	}
	if err := writeWhole(s.disk, s.path, data); err != nil {
		return failure.Errorf(failure.World, "%s: writing the cassette: %w; what was recorded is kept in %s, record again to go on from there", s.path, err, PartialPath(s.path))
	}
	return nil
}

// endPartial removes the partial file, or sets it aside where it has exchanges that
// nobody asked for again.
func (s *session) endPartial() error {
	if err := s.partial.close(); err != nil {
		return failure.Errorf(failure.World, "%s: closing it: %w", s.partial.path, err)
	}
	left := 0
	for _, unasked := range s.leftover {
		if unasked {
			left++
		}
	}
	if left > 0 {
		to, err := setAside(s.disk, s.partial.path)
		if err != nil {
			return err
		}
		s.warnings = append(s.warnings, fmt.Sprintf("%s: %d exchanges that an interrupted recording had kept were not asked for again; they are now in %s", s.path, left, to))
		return nil
	}
	if err := s.disk.remove(s.partial.path); err != nil {
		return failure.Errorf(failure.World, "%s: the cassette is written, but what was kept while recording is not removed: %w", s.partial.path, err)
	}
	return nil
}

// close leaves what was recorded for the next session; a partial file without any
// exchange is removed.
func (s *session) close() error {
	s.settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil
	}
	s.over = true
	if err := s.partial.close(); err != nil {
		return failure.Errorf(failure.World, "%s: closing it: %w", s.partial.path, err)
	}
	if s.filed == 0 && !s.found {
		_ = s.disk.remove(s.partial.path)
	}
	return nil
}

// opened says how an exchange is ended that its client leaves open.
func (s *session) opened(o *slot, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.cancel = cancel
}
