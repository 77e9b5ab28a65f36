package drill_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
)

// outside is a shop whose effect lies with another side, outside its database: it
// reserves a key, acts, records. It is sound, but for its mistake: who takes a
// reservation over asks the other side first.
type outside struct{ mistake string }

func (o *outside) Can() drill.Abilities {
	return drill.Abilities{Restart: true, Kill: true, Points: drill.Points(), Clock: true, Fail: []string{"mail", "payments"}, Together: true, Principals: []string{"ann", "bob"}}
}

func (o *outside) World(context.Context) (drill.World, error) {
	return &bothSides{outside: o, keys: map[string]*reservation{}, byOp: map[string]string{}, owners: map[string]string{}, refused: make(chan struct{})}, nil
}

// bothSides are the shop's database (keys) and the other side.
type bothSides struct {
	*outside
	mu      sync.Mutex
	keys    map[string]*reservation
	byOp    map[string]string // effects by their operation
	owners  map[string]string
	effects int
	tell    sync.Once
	refused chan struct{} // closed when a call has found another one at work
}

type reservation struct {
	mark    string
	done    bool
	result  tool.Result
	at      time.Duration
	replays int
	takers  int
}

func (b *bothSides) Open(_ context.Context, s drill.Start) (drill.Instance, error) {
	if s.Principal == "" {
		s.Principal = "ann"
	}
	return &shopOutside{bothSides: b, start: s, held: make(chan struct{}), dead: make(chan struct{})}, nil
}

func (b *bothSides) Close() {}

type shopOutside struct {
	*bothSides
	start     drill.Start
	held      chan struct{}
	dead      chan struct{}
	once, end sync.Once
}

func (s *shopOutside) Held() <-chan struct{} { return s.held }
func (s *shopOutside) Close()                { s.Kill() }

func (s *shopOutside) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end.Do(func() { close(s.dead) })
}

func (s *shopOutside) Count(context.Context) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.effects, nil
}

func (s *shopOutside) acted() bool {
	n, _ := s.Count(context.Background())
	return n > 0
}

func (s *shopOutside) at(p drill.Point) bool {
	if s.start.HoldAt == p {
		s.once.Do(func() { close(s.held) })
		<-s.dead
		return false
	}
	select {
	case <-s.dead:
		return false
	default:
		return true
	}
}

func (s *shopOutside) Execute(_ context.Context, c tool.Call) (tool.Result, error) {
	m := map[string]jsontext.Value{}
	if json.Unmarshal(c.Args, &m) != nil {
		return refuse(tool.CodeValidation, "arguments"), nil //nolint:nilerr // it is the tool's answer
	}
	if c.Tool == "get" {
		return s.get(m), nil
	}
	var key string
	if json.Unmarshal(m["key"], &key) != nil || key == "" || len(key) > 64 || m["gift"] == nil && m["items"] == nil || string(m["quantity"]) == "0" {
		return refuse(tool.CodeValidation, "arguments"), nil //nolint:nilerr // it is the tool's answer
	}
	if !s.at(drill.BeforeReserve) {
		return tool.Result{Err: errKilled}, nil
	}
	op := s.start.Principal + c.Tool + key
	mark := s.fingerprint(c.Args)
	if res, found := s.reserve(op, mark); found {
		return res, nil
	}
	if s.mistake != "" && s.start.HoldAt == "" && !s.acted() { // so that another call finds this one at work
		wait(s.refused)
	}
	if !s.at(drill.AfterReserve) {
		return tool.Result{Err: errKilled}, nil
	}
	return s.act(op, mark, m), nil
}

func (s *shopOutside) fingerprint(args jsontext.Value) string {
	out := []string{"/key"}
	if left, ok := strings.CutPrefix(s.mistake, "leaves out "); ok {
		out = append(out, left)
	}
	rest, _ := jsondoc.Remove(nil, args, pointers(out...))
	return jsondoc.Hash(rest)
}

// get shows an order, with a member that differs from viewer to viewer.
func (s *shopOutside) get(m map[string]jsontext.Value) tool.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	var id string
	if json.Unmarshal(m["order"], &id) != nil || s.owners[id] == "" || s.owners[id] != s.start.Principal && s.mistake != "shows others' orders" {
		return refuse("NOT_FOUND", "no such order")
	}
	if s.mistake == "shows nobody anything" {
		return fine(`{}`)
	}
	return fine(`{"order":%q,"viewer":%q}`, id, s.start.Principal)
}

// reserve takes the key, or says what is to be answered.
func (s *shopOutside) reserve(op, mark string) (tool.Result, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, now := s.keys[op], s.start.ClockOffset
	switch {
	case r == nil:
	case r.mark != mark:
		if s.mistake == "refuses other arguments and acts" {
			s.effects++
		}
		return refuse("CONFLICT", "other arguments"), true
	case r.done:
		if r.replays++; s.mistake == "acts at the sixth replay" && r.replays == 6 {
			s.effects++
		}
		return r.result, true
	case now-r.at < lockLife:
		return s.atWork(op), true
	case s.byOp[op] != "" && s.mistake != "takes over without a question":
		return s.found(op, r), true
	}
	s.keys[op] = &reservation{mark: mark, at: now}
	return tool.Result{}, false
}

// atWork is the answer while a reservation holds.
func (s *shopOutside) atWork(op string) tool.Result {
	s.tell.Do(func() { close(s.refused) })
	switch s.mistake {
	case "tells a database error":
		return refuse("INTERNAL", "UNIQUE constraint failed: keys.key")
	case "claims that nothing was charged":
		return refuse("PAYMENT_FAILED", "you were not charged")
	case "finds a call in flight invalid":
		return refuse(tool.CodeValidation, "no such gift")
	case "has a code of its own":
		return refuse("ASK_AGAIN", "at work")
	case "believes a reservation":
		return fine(`{"order":"order-of-%s"}`, op)
	}
	return refuse("CONFLICT", "at work")
}

// found is the effect of a reservation that nobody finished.
func (s *shopOutside) found(op string, r *reservation) tool.Result {
	switch s.mistake {
	case "acts and doubts":
		s.effects++
		return refuse("OUTCOME_UNKNOWN", "ask the other side")
	case "acts when asked twice": // after the reservation's end
		if r.takers++; r.takers > 1 {
			s.effects++
		}
		return refuse("OUTCOME_UNKNOWN", "ask the other side")
	}
	r.done, r.result = true, fine(`{"order":%q}`, s.byOp[op])
	return r.result
}

func (s *shopOutside) act(op, mark string, m map[string]jsontext.Value) tool.Result {
	s.mu.Lock()
	if s.start.Fail != "" {
		res := refuse("PAYMENT_PROVIDER_ERROR", "later")
		if delete(s.keys, op); s.mistake == "refuses the second dependency's errors" && s.start.Fail == "payments" {
			s.keys[op] = &reservation{mark: mark, done: true, result: res}
		}
		s.mu.Unlock()
		return res
	}
	if m["items"] != nil && s.mistake == "does nothing of a batch" {
		s.mu.Unlock()
		return fine(`{"done":0}`)
	}
	s.effects++
	id := fmt.Sprint("order-", s.effects)
	s.owners[id], s.byOp[op] = s.start.Principal, id
	s.mu.Unlock()
	if !s.at(drill.AfterEffect) {
		return tool.Result{Err: errKilled}
	}
	s.mu.Lock()
	res := fine(`{"order":%q}`, id)
	s.keys[op].done, s.keys[op].result = true, res
	s.mu.Unlock()
	if !s.at(drill.AfterRecord) {
		return tool.Result{Err: errKilled}
	}
	return res
}

func buyingOutside() drill.Spec {
	return drill.Spec{
		Tool: "buy", Args: jsontext.Value(`{"gift":"mug","quantity":1,"address":{"city":"Oslo","street":"Main"},"tags":["a","b"]}`),
		Bad: []jsontext.Value{jsontext.Value(`{"gift":"mug","quantity":0}`)},
		Key: drill.KeySpec{Field: "key", MaxLength: 64},
		Tools: []tool.Decl{{Name: "buy", Input: jsontext.Value(`{"type":"object","properties":{
			"gift":{"type":"string"},"coupon":{"type":"string"},"quantity":{"type":"integer"},"address":{"$ref":"#/$defs/address"},
			"tags":{"type":"array","items":{"type":"string"}},"key":{"type":"string"}},"required":["gift","key"],
			"$defs":{"address":{"type":"object","properties":{"city":{"type":"string"},"street":{"type":"string"},"floor":{"type":"integer"}}}}}`)}},
		Policies: drill.Policies{Lock: lockLife},
		Another:  &drill.Another{Tool: "wrap", Args: jsontext.Value(`{"gift":"book"}`)},
		Looks:    []drill.Look{{Tool: "get", From: pointers("/order")[0], Into: "order"}},
	}
}

// Rows that would hold for want of something to try.
func TestNothingToTry(t *testing.T) {
	t.Parallel()
	batch := func(s *drill.Spec) {
		s.Batch = &drill.Batch{Args: jsontext.Value(`{"items":["a","b"]}`), Items: 2, Bad: 1}
	}
	for _, tc := range []struct {
		mistake, why string
		declare      func(*drill.Spec)
		row          string
		want         drill.State
	}{
		{"does nothing of a batch", "one item can be done", batch, "I20", drill.Breached},
		{"shows nobody anything", "not its owner either", func(*drill.Spec) {}, "T3", drill.NotApplicable},
		{"finds a call in flight invalid", "no conflict", func(s *drill.Spec) { s.Policies.InFlight = drill.InFlightConflict }, "I2", drill.Breached},
		{"tells a database error", "no conflict either", func(*drill.Spec) {}, "I2", drill.Breached},
		{"has a code of its own", "declared as a doubt", func(s *drill.Spec) { s.Policies.InDoubt = []string{"ASK_AGAIN"} }, "I10 after_effect", drill.Held},
		{"refuses the second dependency's errors", "each is broken", func(*drill.Spec) {}, "I12", drill.Breached},
	} {
		t.Run(tc.mistake, func(t *testing.T) {
			t.Parallel()
			spec := buyingOutside()
			tc.declare(&spec)
			id, _, _ := strings.Cut(tc.row, " ")
			r := run(t, drill.Params{Spec: spec, Target: &outside{mistake: tc.mistake}, Only: []string{id}})
			if got := r.States()[tc.row]; got != tc.want {
				t.Errorf("%s: %s is %q, want %q\n%s", tc.why, tc.row, got, tc.want, r.AppendText(nil))
			}
		})
	}
}

// A tool without a fingerprint that refuses arguments for what they are does not
// pass for one with a fingerprint.
func TestOtherArgumentsAreShownToBeValid(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		other, why string
		want       map[string]drill.State
	}{
		{"", "no other gift is known", map[string]drill.State{"I5": drill.NotApplicable, "I6": drill.NotApplicable, "I15": drill.Held}},
		{`{"gift":"book"}`, "another gift is known", map[string]drill.State{"I5": drill.Breached, "I6": drill.Breached, "I15": drill.Held}},
		{`{"gift":"cup"}`, "and one that is none", map[string]drill.State{"I5": drill.NotApplicable, "I6": drill.NotApplicable, "I15": drill.Held}},
	} {
		s := drill.Spec{Tool: "buy", Args: jsontext.Value(`{"gift":"mug","quantity":1}`), Key: drill.KeySpec{Field: "key"}, Unmarked: []string{"quantity"}}
		if tc.other != "" {
			s.Other = jsontext.Value(tc.other)
		}
		r := run(t, drill.Params{Spec: s, Target: shop("has no fingerprint"), Only: []string{"I5", "I6", "I15"}})
		if diff := cmp.Diff(tc.want, r.States()); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", tc.why, diff, r.AppendText(nil))
		}
	}
}

// What goes wrong where the effect and its record are apart.
func TestMistakesWithTheEffectOutside(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		mistake, why string
		only         []string
		rows         string
	}{
		{"", "reserve, act, record, and a question before the second act", nil, ""},
		{"takes over without a question", "only the first retry is refused: the one after the lock's end acts again", nil, "I10 after_effect, I18 after_effect"},
		{"acts and doubts", "a second effect behind an honest answer", nil, "I10 after_effect, I18 after_effect"},
		{"acts when asked twice", "a second retry acts", nil, "I10 after_effect, I18 after_effect"},
		{"claims that nothing was charged", "and it was", nil, "I2, I2 two processes, I3 crash, I10 after_effect"},
		{"tells a database error", "text of a database is no doubt", nil, "I2, I2 two processes, I3 crash, I10 after_effect"},
		{"finds a call in flight invalid", "a validation error is no doubt", nil, "I2, I2 two processes, I3 crash, I10 after_effect"},
		{"has a code of its own", "nobody can know that it is a doubt", nil, "I2, I2 two processes, I3 crash, I10 after_effect"},
		{"believes a reservation", "an ok without an effect", nil, "I2, I2 two processes, I10 after_reserve, I10 after_effect, I18"},
		{"refuses other arguments and acts", "an effect behind a refusal", nil, "I5, I6"},
		{"acts at the sixth replay", "five repeats are well", []string{"I1"}, "I1"},
		{"leaves out /address/street", "a nested member", nil, "I6"},
		{"leaves out /tags/1", "a later element of a list", nil, "I6"},
		{"leaves out /coupon", "an argument that the example leaves out", nil, "I6"},
		{"leaves out /address/floor", "a nested one that the example leaves out, behind a reference", nil, "I6"},
		{"shows others' orders", "the answers differ, and have the order", nil, "T3"},
	} {
		t.Run(tc.mistake, func(t *testing.T) {
			t.Parallel()
			r := run(t, drill.Params{Spec: buyingOutside(), Target: &outside{mistake: tc.mistake}, Only: tc.only})
			got := strings.Join(in(r, drill.Breached), ", ")
			if got != tc.rows {
				t.Errorf("%s: found by %q, want %q\n%s", tc.why, got, tc.rows, r.AppendText(nil))
			}
		})
	}
}
