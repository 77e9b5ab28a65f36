package rerecord

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// Rekeyed is a recording whose requests were held against those that its scenario
// makes now, in order.
type Rekeyed struct {
	Scenario, Model, Fault string
	File                   string
	Requests               []Request // those that have changed
	All                    int       // requests of the recording
	Written                bool
}

// Request is a recorded request that has changed.
type Request struct {
	Number  int      // in the recording, from 1
	Where   []string // what the change reaches: prompt, tools, conversation, parameters
	Changes []jsondoc.Difference
}

// Lines tell the changes, one each.
func (r *Request) Lines() []string {
	out := make([]string, len(r.Changes))
	for i, d := range r.Changes {
		switch d.Kind {
		case jsondoc.Added:
			out[i] = d.Pointer + " is new: " + d.B
		case jsondoc.Removed:
			out[i] = d.Pointer + " is gone: " + d.A
		default:
			out[i] = d.Pointer + " was " + d.A + ", is " + d.B
		}
	}
	return out
}

// RekeyOptions say what to rekey.
type RekeyOptions struct {
	Models []string
	Labels []string
	Write  bool // rewrite the recorded requests; false only compares
}

// Rekey replays each recording by its order and compares the requests. With Write
// it gives the recorded answers to the requests of now: nothing is asked, no tokens
// are spent, and whether the model would have answered them alike is for the caller
// to decide. A recording that has other calls, or calls in another order, is an
// error of class cassette_miss; emit is told of the others all the same.
func Rekey(ctx context.Context, s *suite.Suite, names []string, o RekeyOptions, emit func(*Rekeyed)) error {
	var bad []error
	for _, name := range names {
		sc, err := s.Load(name)
		if err != nil {
			return err
		}
		for _, m := range suite.ModelsOf(sc, o.Models, o.Labels) {
			for _, v := range recordedVariants(sc) {
				k, err := rekeyOne(ctx, s, sc, m, v, o.Write)
				switch {
				case failure.Of(err) == failure.CassetteMiss:
					bad = append(bad, err)
				case err != nil:
					return err
				case k != nil:
					emit(k)
				}
			}
		}
	}
	return errors.Join(append(bad, s.CheckNames(suite.Options{Models: o.Models, Labels: o.Labels}))...)
}

// recordedVariants are the runs that have a recording: the one without faults, and
// those under faults that say so.
func recordedVariants(sc *scenario.Scenario) []*scenario.Variant {
	out := []*scenario.Variant{nil}
	for i := range sc.Variants {
		if sc.Variants[i].OnDivergence == scenario.DivergeRecorded {
			out = append(out, &sc.Variants[i])
		}
	}
	return out
}

// rekeyOne gives nil where there is no recording.
func rekeyOne(ctx context.Context, s *suite.Suite, sc *scenario.Scenario, model string, v *scenario.Variant, write bool) (*Rekeyed, error) {
	j := &Job{Scenario: sc, Model: model, Variant: v, Path: harness.ModelCassette(s.Dirs.Cassettes, sc.Name, model)}
	if v != nil {
		j.Path = harness.UnderVariant(j.Path, v.ID)
	}
	unlock, err := lockOf(j.Path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	old, err := cassette.Open(j.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing there is an answer
	}
	if err != nil {
		return nil, err
	}
	asked, err := askedNow(ctx, s, j, old)
	if err != nil {
		return nil, err
	}
	if err := sameSteps(j, old, asked); err != nil {
		return nil, err
	}
	k := &Rekeyed{Scenario: sc.Name, Model: model, Fault: j.Fault(), File: j.Path, All: len(old.Interactions), Requests: changed(old, asked)}
	if !write || len(k.Requests) == 0 && sameHashes(old, sc) {
		return k, nil
	}
	return k, k.write(s, sc, old, asked)
}

func lockOf(path string) (unlock func(), err error) {
	unlock, err = file.Lock(filepath.Dir(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return func() {}, nil
	case errors.Is(err, file.ErrLocked):
		return nil, failure.Errorf(failure.World, "%s: somebody records this scenario; wait until the other retake has ended", filepath.Dir(path))
	case err != nil:
		return nil, failure.Errorf(failure.World, "%w", err)
	}
	return unlock, nil
}

// askedNow runs the scenario on the recorded answers in their order, and gives the
// requests as a recorder writes them: redacted, and without a secret.
func askedNow(ctx context.Context, s *suite.Suite, j *Job, old *cassette.File) (*cassette.File, error) {
	dir, err := os.MkdirTemp("", "retake-rekey-")
	if err != nil {
		return nil, failure.Errorf(failure.World, "a folder for the requests: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what cannot be removed is the system's to clear
	params, err := s.Params(j.Scenario, j.Model, suite.Options{})
	if err != nil {
		return nil, err
	}
	player, err := cassette.NewPlayer(old, cassette.Options{Match: cassette.Sequence})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "asked.yaml")
	rec, err := cassette.Record(path, cassette.Recording{Next: player, Redact: params.Redact, Secrets: params.Secrets, Replay: cassette.Options{Headers: j.Scenario.Replay.Headers}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = rec.Close() }() // where it matters, Finish has told
	unjudged := *j.Scenario
	unjudged.Expect.Golden = false
	params.Scenario, params.Variant, params.Transport = &unjudged, j.Variant, http.RoundTripper(rec)
	res := harness.Exec(ctx, params)
	if ctx.Err() != nil {
		return nil, failure.Errorf(failure.Interrupted, "interrupted")
	}
	if n := len(player.Misses()); n > 0 {
		return nil, j.doesNotFit("there are %d requests more than the recording has", n)
	}
	if n := len(player.Unplayed()); n > 0 {
		return nil, j.doesNotFit("%d of the recorded answers were not asked for%s", n, detail(res))
	}
	if len(res.Failures) > 0 && stops(res.Failures[0].Class) {
		return nil, failure.Errorf(res.Failures[0].Class, "%s: %s", j.Path, res.Failures[0].What)
	}
	if err := rec.Finish(); err != nil {
		return nil, err
	}
	return cassette.Open(path)
}

func (j *Job) doesNotFit(format string, args ...any) error {
	return failure.Errorf(failure.CassetteMiss, "%s: its answers do not fit the scenario any more: %s; record it again: retake record %s", j.Path, fmt.Sprintf(format, args...), j.args())
}

// sameSteps refuses requests that are another step of the conversation than the
// recorded ones: the model has then given its answers at other places.
func sameSteps(j *Job, old, asked *cassette.File) error {
	if len(old.Interactions) != len(asked.Interactions) {
		return j.doesNotFit("it has %d requests, and now there are %d", len(old.Interactions), len(asked.Interactions))
	}
	shift := 0
	for i := range old.Interactions {
		was, ok1 := request(&old.Interactions[i].Request)
		is, ok2 := request(&asked.Interactions[i].Request)
		if ok1 != ok2 || ok1 && was.api != is.api {
			return j.doesNotFit("request %d is one of another API", i+1)
		}
		if !ok1 {
			continue
		}
		moved := turns(is.request) - turns(was.request)
		if i == 0 {
			shift = moved // what stands before the conversation may have changed
		}
		if moved != shift {
			return j.doesNotFit("request %d is another step of the conversation", i+1)
		}
	}
	return nil
}

type decoded struct {
	api     wire.API
	request *wire.Request
}

func request(q *cassette.Request) (decoded, bool) {
	api, ok := codec.Detect(q.Method, q.URL, q.Body)
	if !ok {
		return decoded{}, false
	}
	k, _ := codec.For(api)
	r, err := k.DecodeRequest(q.URL, q.Body)
	return decoded{api, r}, err == nil
}

func turns(r *wire.Request) int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == wire.RoleAssistant {
			n++
		}
	}
	return n
}

// mostChanges bounds what is shown of one request.
const mostChanges = 20

// changed are the requests that are no longer as they were.
func changed(old, asked *cassette.File) []Request {
	var out []Request
	for i := range old.Interactions {
		was, is := &old.Interactions[i].Request, &asked.Interactions[i].Request
		diff := jsondoc.Diff(was.Body, is.Body, mostChanges)
		if path := pathOf(was.URL); path != pathOf(is.URL) {
			diff = append(diff, jsondoc.Difference{Pointer: "(path)", Kind: jsondoc.Changed, A: path, B: pathOf(is.URL)})
		}
		if len(diff) > 0 {
			out = append(out, Request{Number: i + 1, Where: reaches(diff), Changes: diff})
		}
	}
	return out
}

func pathOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	i := strings.IndexByte(rest, '/')
	if i < 0 {
		return "/"
	}
	return rest[i:]
}

// reaches says in words what changes are about.
func reaches(diff []jsondoc.Difference) []string {
	var out []string
	for _, d := range diff {
		first, _, _ := strings.Cut(strings.TrimPrefix(d.Pointer, "/"), "/")
		word := "parameters"
		switch first {
		case "system", "instructions", "systemInstruction", "system_instruction":
			word = "prompt"
		case "messages", "contents", "input":
			word = "conversation"
		case "tools":
			word = "tools"
		}
		if !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

func sameHashes(f *cassette.File, sc *scenario.Scenario) bool {
	return f.Notes.Hashes == hashesNow(sc)
}

func hashesNow(sc *scenario.Scenario) cassette.Hashes {
	h := harness.HashesOf(sc)
	return cassette.Hashes{System: h.Prompt, Tools: h.Tools, Scenario: h.Scenario}
}

// write gives the recorded answers to the requests of now.
func (k *Rekeyed) write(s *suite.Suite, sc *scenario.Scenario, old, asked *cassette.File) error {
	out := *old
	out.Interactions = slices.Clone(old.Interactions)
	for i := range out.Interactions {
		in := &out.Interactions[i]
		host, url := in.Request.Host, in.Request.URL
		in.Request = asked.Interactions[i].Request
		in.Request.Host, in.Request.URL = host, strings.TrimSuffix(url, pathOf(url))+pathOf(in.Request.URL)
		if in.Notes != nil {
			notes := *in.Notes
			notes.Hashes = cassette.Hashes{}
			in.Notes = &notes
		}
	}
	out.Notes.Hashes = hashesNow(sc)
	text, err := cassette.Encode(nil, &out)
	if err != nil {
		return err
	}
	if name, found := s.Config.Hidden().Found(text); found {
		return failure.Errorf(failure.World, "%s: not written: it would have the value of the secret %s", k.File, name)
	}
	if err := cassette.Save(k.File, &out); err != nil {
		return err
	}
	k.Written = true
	return nil
}
