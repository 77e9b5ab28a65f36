package giftgenius_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/example/giftgenius"
)

// count asks the shop's file, as a probe from outside does.
func count(t *testing.T, file, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func run(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

const charges = `select count(*) from charges`

func file(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "shop.db")
}

// writes are one call of each tool that changes something.
func writes(t *testing.T, shop *giftgenius.Shop) map[string]string {
	t.Helper()
	d := call(t, shop, "local", "prepare_order", `{"gift_id":"gift-mug","quantity":2,"idempotency_key":"draft"}`)
	return map[string]string{
		"create_checkout_session": `{"gift_id":"gift-mug","idempotency_key":"k"}`,
		"prepare_order":           `{"gift_id":"gift-mug","idempotency_key":"k"}`,
		"commit_order":            fmt.Sprintf(`{"draft_id":%q,"confirmed_total_cents":2800,"idempotency_key":"k"}`, d.DraftID),
		"send_gift_cards":         `{"cards":[{"recipient":"a@b.example","amount_cents":500}],"idempotency_key":"k"}`,
	}
}

// effects counts what a tool has done.
var effects = map[string]string{
	"create_checkout_session": `select count(*) from charges`,
	"prepare_order":           `select count(*) - 1 from drafts`, // but for the one that writes makes
	"commit_order":            `select count(*) from charges`,
	"send_gift_cards":         `select count(*) from charges`,
}

func TestRepeatsHaveOneEffect(t *testing.T) {
	t.Parallel()
	for _, h := range []giftgenius.Handler{giftgenius.Sound, giftgenius.Naive} {
		for tool := range effects {
			t.Run(string(h)+"/"+tool, func(t *testing.T) {
				t.Parallel()
				f := file(t)
				shop := open(t, giftgenius.Options{File: f, Handler: h})
				args := writes(t, shop)[tool]
				first := call(t, shop, "local", tool, args)
				for range 3 {
					if again := call(t, shop, "local", tool, args); again.text != first.text || !again.OK {
						t.Errorf("the repeat answers %s, the first call %s", again.text, first.text)
					}
				}
				if n := count(t, f, effects[tool]); n != 1 {
					t.Errorf("%d effects, want 1", n)
				}
			})
		}
	}
}

// Eight calls at once are one effect with the sound handler. With the naive one
// they never are: that is what it is kept for.
func TestConcurrentDuplicates(t *testing.T) {
	t.Parallel()
	for _, h := range []giftgenius.Handler{giftgenius.Sound, giftgenius.Naive} {
		for tool := range effects {
			t.Run(string(h)+"/"+tool, func(t *testing.T) {
				t.Parallel()
				f := file(t)
				shop := open(t, giftgenius.Options{File: f, Handler: h})
				args := writes(t, shop)[tool]
				answers := make([]giftgenius.Reply, 8)
				var all sync.WaitGroup
				for i := range answers {
					all.Go(func() {
						answers[i] = shop.Call(t.Context(), "local", shop.Tool(tool), json.RawMessage(args))
					})
				}
				all.Wait()
				n := count(t, f, effects[tool])
				if h == giftgenius.Naive {
					if n < 2 {
						t.Errorf("%d effect: the specimen's race does not show", n)
					}
					return
				}
				for _, a := range answers {
					if a != answers[0] {
						t.Errorf("answers differ: %s and %s", a.Text, answers[0].Text)
					}
				}
				if n != 1 {
					t.Errorf("%d effects, want 1", n)
				}
			})
		}
	}
}

// Two servers at once on one file: their calls may find the key in use, and that
// is all.
func TestTwoServersAtOnce(t *testing.T) {
	f := file(t)
	shops := []*giftgenius.Shop{open(t, giftgenius.Options{File: f}), open(t, giftgenius.Options{File: f})}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			shop := shops[i%2]
			args := fmt.Sprintf(`{"gift_id":"gift-mug","idempotency_key":"k%d"}`, i/4)
			got := call(t, shop, "local", "create_checkout_session", args)
			if !got.OK && got.Error.Code != "IDEMPOTENCY_KEY_IN_USE" {
				t.Errorf("got %s", got.text)
			}
		})
	}
	all.Wait()
	if n := count(t, f, charges); n != 10 {
		t.Errorf("%d charges, want 10", n)
	}
}

func TestSameKeyOtherArguments(t *testing.T) {
	tests := []struct {
		name, why    string
		first, other string
		refused      bool
	}{
		{
			name: "other gift", why: "another operation under a used key is a mistake of the caller",
			first: `{"gift_id":"gift-mug","idempotency_key":"k"}`, other: `{"gift_id":"gift-tea","idempotency_key":"k"}`, refused: true,
		},
		{
			name: "other quantity", why: "every change of meaning counts",
			first: `{"gift_id":"gift-mug","quantity":1,"idempotency_key":"k"}`, other: `{"gift_id":"gift-mug","quantity":2,"idempotency_key":"k"}`, refused: true,
		},
		{
			name: "refused gift", why: "the key is looked at before the gift is",
			first: `{"gift_id":"gift-mug","idempotency_key":"k"}`, other: `{"gift_id":"gift-radio","idempotency_key":"k"}`, refused: true,
		},
		{
			name: "order of members, white space", why: "they mean nothing",
			first: `{"gift_id":"gift-mug","idempotency_key":"k"}`, other: ` { "idempotency_key" : "k",  "gift_id":"gift-mug" } `,
		},
		{
			name: "a default spelled out", why: "one is what no quantity means",
			first: `{"gift_id":"gift-mug","idempotency_key":"k"}`, other: `{"gift_id":"gift-mug","quantity":1,"idempotency_key":"k"}`,
		},
		{
			name: "a number written otherwise", why: "2.0 is 2",
			first: `{"gift_id":"gift-mug","quantity":2,"idempotency_key":"k"}`, other: `{"gift_id":"gift-mug","quantity":2.0,"idempotency_key":"k"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shop := open(t, giftgenius.Options{})
			first := call(t, shop, "local", "prepare_order", tt.first)
			other := call(t, shop, "local", "prepare_order", tt.other)
			if refused := other.Error.Code == "IDEMPOTENCY_KEY_REUSED"; refused != tt.refused {
				t.Errorf("got %s: %s", other.text, tt.why)
			}
			if !tt.refused && other.text != first.text {
				t.Errorf("got %s, first %s: %s", other.text, first.text, tt.why)
			}
			if again := call(t, shop, "local", "prepare_order", tt.first); again.text != first.text {
				t.Errorf("the stored result has become %s", again.text)
			}
		})
	}
}

// Whatever calls are made in whatever order, each key that was answered ok is one
// charge, and keeps its answer.
func TestEachKeyIsOneCharge(t *testing.T) {
	f := file(t)
	shop := open(t, giftgenius.Options{File: f})
	checks := 0
	rapid.Check(t, func(rt *rapid.T) {
		checks++ // tenants of its own for each
		answers := map[string]string{}
		for range rapid.IntRange(1, 12).Draw(rt, "calls") {
			tenant := fmt.Sprintf("%s-%d", rapid.SampledFrom([]string{"alice", "bob"}).Draw(rt, "tenant"), checks)
			key := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "key")
			gift := rapid.SampledFrom([]string{"gift-mug", "gift-tea", "gift-radio"}).Draw(rt, "gift")
			got := call(t, shop, tenant, "create_checkout_session", fmt.Sprintf(`{"gift_id":%q,"idempotency_key":%q}`, gift, key))
			if !got.OK {
				continue
			}
			if first, ok := answers[tenant+key]; ok && first != got.text {
				rt.Errorf("%s's key %s answers %s, first %s", tenant, key, got.text, first)
			}
			answers[tenant+key] = got.text
		}
		if n := count(t, f, fmt.Sprintf(`select count(*) from charges where tenant like '%%-%d'`, checks)); n != len(answers) {
			rt.Errorf("%d charges for %d keys", n, len(answers))
		}
	})
}

func TestRefusalLeavesTheKey(t *testing.T) {
	shop := open(t, giftgenius.Options{})
	for _, args := range []string{
		`{"gift_id":"gift-radio","idempotency_key":"k"}`, `{"gift_id":"gift-moon","idempotency_key":"k"}`, `{"gift_id":7,"idempotency_key":"k"}`,
	} {
		if got := call(t, shop, "local", "create_checkout_session", args); got.OK {
			t.Fatalf("%s: got %s", args, got.text)
		}
	}
	if got := call(t, shop, "local", "create_checkout_session", `{"gift_id":"gift-mug","idempotency_key":"k"}`); !got.OK {
		t.Errorf("the key was burnt: %s", got.text)
	}
}

func TestKeysAreOfOneTenantAndTool(t *testing.T) {
	f := file(t)
	shop := open(t, giftgenius.Options{File: f})
	const args = `{"gift_id":"gift-mug","idempotency_key":"k"}`
	alice := call(t, shop, "alice", "create_checkout_session", args)
	bob := call(t, shop, "bob", "create_checkout_session", args)
	draft := call(t, shop, "alice", "prepare_order", args)
	if !alice.OK || !bob.OK || !draft.OK || alice.text == bob.text {
		t.Errorf("alice %s, bob %s, alice's draft %s", alice.text, bob.text, draft.text)
	}
	if n := count(t, f, charges); n != 2 {
		t.Errorf("%d charges, want 2", n)
	}
	stolen := fmt.Sprintf(`{"draft_id":%q,"confirmed_total_cents":1400,"idempotency_key":"s"}`, draft.DraftID)
	missing := `{"draft_id":"draft_x","confirmed_total_cents":1400,"idempotency_key":"s"}`
	if got, want := call(t, shop, "bob", "commit_order", stolen), call(t, shop, "bob", "commit_order", missing); got.Error.Code != "NOT_FOUND" || got.Error.Code != want.Error.Code {
		t.Errorf("another's draft answers %s, one that is not there %s", got.text, want.text)
	}
	if got := call(t, shop, "alice", "commit_order", stolen); !got.OK {
		t.Error(got.text)
	}
	if got := call(t, shop, "bob", "list_orders", `{}`); got.Total != 0 {
		t.Errorf("bob sees %s", got.text)
	}
}

func TestKeysExpire(t *testing.T) {
	tests := []struct {
		name, why string
		offset    time.Duration
		charges   int
	}{
		{name: "before", why: "a finished key is kept for 24 hours", offset: 23 * time.Hour, charges: 1},
		{name: "after", why: "then it is new", offset: 25 * time.Hour, charges: 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := file(t)
			const args = `{"gift_id":"gift-mug","idempotency_key":"k"}`
			first := call(t, open(t, giftgenius.Options{File: f}), "local", "create_checkout_session", args)
			later := open(t, giftgenius.Options{File: f, Hooks: giftgenius.Hooks{ClockOffset: tt.offset}})
			again := call(t, later, "local", "create_checkout_session", args)
			if !again.OK || (again.text == first.text) != (tt.charges == 1) || count(t, f, charges) != tt.charges {
				t.Errorf("first %s, then %s, %d charges: %s", first.text, again.text, count(t, f, charges), tt.why)
			}
		})
	}
}

// An expired key of a commit finds its draft ordered.
func TestExpiredCommitOrdersNothing(t *testing.T) {
	f := file(t)
	shop := open(t, giftgenius.Options{File: f})
	args := writes(t, shop)["commit_order"]
	if got := call(t, shop, "local", "commit_order", args); !got.OK {
		t.Fatal(got.text)
	}
	later := open(t, giftgenius.Options{File: f, Hooks: giftgenius.Hooks{ClockOffset: 25 * time.Hour}})
	if got := call(t, later, "local", "commit_order", args); got.Error.Code != "DRAFT_ALREADY_ORDERED" {
		t.Errorf("got %s", got.text)
	}
}

func TestErrorsOfTheProviderAreNotStored(t *testing.T) {
	for tool := range effects {
		if tool == "prepare_order" {
			continue // asks no provider
		}
		t.Run(tool, func(t *testing.T) {
			f := file(t)
			failing := open(t, giftgenius.Options{File: f, Hooks: giftgenius.Hooks{FailPayment: true}})
			args := writes(t, failing)[tool]
			for range 2 {
				if got := call(t, failing, "local", tool, args); got.Error.Code != "PAYMENT_PROVIDER_ERROR" || !got.Error.Retryable {
					t.Fatalf("got %s", got.text)
				}
			}
			whole := open(t, giftgenius.Options{File: f})
			if got := call(t, whole, "local", tool, args); !got.OK || count(t, f, charges) != 1 {
				t.Errorf("got %s, %d charges", got.text, count(t, f, charges))
			}
		})
	}
}

func TestDrafts(t *testing.T) {
	tests := []struct {
		name, why string
		between   string // a statement between prepare and commit
		offset    time.Duration
		confirmed int
		code      string
	}{
		{name: "as shown", why: "the usual case", confirmed: 2800},
		{name: "expired", why: "a price is promised for some minutes", offset: 16 * time.Minute, confirmed: 2800, code: "DRAFT_EXPIRED"},
		{name: "other total", why: "what was confirmed is not what it costs", confirmed: 2700, code: "CONFIRMATION_MISMATCH"},
		{name: "edited", why: "it is not what the customer was shown", between: `update drafts set quantity = 3`, confirmed: 2800, code: "DRAFT_CHANGED"},
		{name: "edited, and confirmed as edited", why: "the seal is over the total too", between: `update drafts set total_cents = 1`, confirmed: 1, code: "DRAFT_CHANGED"},
		{name: "new price", why: "the shop does not sell at yesterday's", between: `update gifts set price_cents = 1500 where id = 'gift-mug'`, confirmed: 2800, code: "DRAFT_CHANGED"},
		{name: "no longer sold", why: "a gift can go between prepare and commit", between: `update gifts set discontinued = 1 where id = 'gift-mug'`, confirmed: 2800, code: "DISCONTINUED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := file(t)
			d := call(t, open(t, giftgenius.Options{File: f}), "local", "prepare_order", `{"gift_id":"gift-mug","quantity":2,"idempotency_key":"p"}`)
			if count(t, f, charges)+count(t, f, `select count(*) from orders`) != 0 {
				t.Error("prepare has an effect")
			}
			if tt.between != "" {
				run(t, f, tt.between)
			}
			shop := open(t, giftgenius.Options{File: f, Hooks: giftgenius.Hooks{ClockOffset: tt.offset}})
			got := call(t, shop, "local", "commit_order", fmt.Sprintf(`{"draft_id":%q,"confirmed_total_cents":%d,"idempotency_key":"c"}`, d.DraftID, tt.confirmed))
			orders, paid := count(t, f, `select count(*) from orders`), count(t, f, charges)
			want := 0
			if tt.code == "" {
				want = 1
			}
			if got.Error.Code != tt.code || orders != want || paid != want {
				t.Errorf("got %s, %d orders, %d charges, want %q: %s", got.text, orders, paid, tt.code, tt.why)
			}
		})
	}
}

// Two keys, one draft: one order, also when both come at once.
func TestDoubleCommit(t *testing.T) {
	f := file(t)
	shop := open(t, giftgenius.Options{File: f})
	d := call(t, shop, "local", "prepare_order", `{"gift_id":"gift-mug","idempotency_key":"p"}`)
	var all sync.WaitGroup
	codes := make([]string, 8)
	for i := range codes {
		all.Go(func() {
			args := fmt.Sprintf(`{"draft_id":%q,"confirmed_total_cents":1400,"idempotency_key":"c%d"}`, d.DraftID, i)
			codes[i] = call(t, shop, "local", "commit_order", args).Error.Code
		})
	}
	all.Wait()
	won := 0
	for _, code := range codes {
		switch code {
		case "":
			won++
		case "DRAFT_ALREADY_ORDERED":
		default:
			t.Errorf("got %s", code)
		}
	}
	if won != 1 || count(t, f, `select count(*) from orders`) != 1 || count(t, f, charges) != 1 {
		t.Errorf("%d commits were answered ok", won)
	}
}

func TestPartOfABatch(t *testing.T) {
	f := file(t)
	const args = `{"cards":[{"recipient":"a@b.example","amount_cents":500},{"recipient":"c@b.example","amount_cents":600},{"recipient":"d@b.example","amount_cents":700}],"idempotency_key":"g"}`
	failing := open(t, giftgenius.Options{File: f, Hooks: giftgenius.Hooks{FailPayment: true, FailAfter: 1}})
	part := call(t, failing, "local", "send_gift_cards", args)
	if part.Error.Code != "PARTLY_SENT" || !part.Error.Retryable || len(part.Sent) != 1 || len(part.Failed) != 2 {
		t.Errorf("got %s", part.text)
	}
	whole := open(t, giftgenius.Options{File: f})
	got := call(t, whole, "local", "send_gift_cards", args)
	if !got.OK || len(got.Sent) != 3 || count(t, f, charges) != 3 || count(t, f, `select count(*) from sent_cards`) != 3 {
		t.Errorf("got %s, %d charges", got.text, count(t, f, charges))
	}
	if d := count(t, f, `select count(distinct amount_cents) from charges`); d != 3 {
		t.Errorf("%d different amounts were charged, want 3: one card was charged twice", d)
	}
}

// signal is a writer that tells when something is written to it.
type signal chan string

func (s signal) Write(p []byte) (int, error) {
	s <- string(p)
	return len(p), nil
}

// A process that has come to a point for good is as good as dead to the next
// one; what it would do later is refused.
func TestLaterProcessTakesOver(t *testing.T) {
	const args = `{"gift_id":"gift-mug","idempotency_key":"k"}`
	for _, p := range []giftgenius.Point{giftgenius.BeforeReserve, giftgenius.AfterReserve, giftgenius.AfterEffect, giftgenius.AfterRecord} {
		t.Run(string(p), func(t *testing.T) {
			f, said := file(t), make(signal, 1)
			held := open(t, giftgenius.Options{File: f, Hooks: giftgenius.Hooks{HoldAt: p, Said: said}})
			go held.Call(context.Background(), "local", held.Tool("create_checkout_session"), json.RawMessage(args))
			if got, want := <-said, "retake: held at "+string(p)+"\n"; got != want {
				t.Errorf("said %q, want %q", got, want)
			}
			next := open(t, giftgenius.Options{File: f})
			got := call(t, next, "local", "create_checkout_session", args)
			if !got.OK || count(t, f, charges) != 1 || count(t, f, `select count(*) from checkout_sessions`) != 1 {
				t.Errorf("got %s, %d charges", got.text, count(t, f, charges))
			}
			// The held one is not asked in vain either: nobody waits for ever.
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			r := held.Call(gone, "local", held.Tool("create_checkout_session"), json.RawMessage(args))
			if a := parse(t, r.Text, r.IsError); a.Error.Code != "IDEMPOTENCY_KEY_IN_USE" || !a.Error.Retryable {
				t.Errorf("got %s", r.Text)
			}
		})
	}
}

// A server does not take from one that started later, unless that one's lease is
// over; and an unfinished key never expires.
func TestLease(t *testing.T) {
	const args = `{"gift_id":"gift-mug","idempotency_key":"k"}`
	tests := []struct {
		name, why string
		age       time.Duration
		code      string
	}{
		{name: "held", why: "the later server may be at work", code: "IDEMPOTENCY_KEY_IN_USE"},
		{name: "stale", why: "nobody works for longer than the lease", age: giftgenius.Lease + time.Second},
		{name: "very stale", why: "what may have been charged is not begun anew", age: 25 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, said := file(t), make(signal, 1)
			early := open(t, giftgenius.Options{File: f})
			late := open(t, giftgenius.Options{File: f, Hooks: giftgenius.Hooks{HoldAt: giftgenius.AfterEffect, Said: said}})
			go late.Call(context.Background(), "local", late.Tool("create_checkout_session"), json.RawMessage(args))
			<-said
			run(t, f, fmt.Sprintf(`update idempotency set at = at - %d`, tt.age.Milliseconds()))
			if got := call(t, early, "local", "create_checkout_session", args); got.Error.Code != tt.code || count(t, f, charges) != 1 {
				t.Errorf("got %s, %d charges: %s", got.text, count(t, f, charges), tt.why)
			}
		})
	}
}
