package giftgenius

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
)

// stopped is a server whose first write stands still at a point until it is let
// go, as a process that was slow, or stopped and woken up.
type stopped struct {
	shop    *Shop
	arrived chan struct{}
	goOn    chan struct{}
	answer  chan Reply
}

func stopAt(t *testing.T, file string, p Point) *stopped {
	t.Helper()
	shop, err := Open(t.Context(), Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shop.Close() })
	s := &stopped{shop: shop, arrived: make(chan struct{}), goOn: make(chan struct{}), answer: make(chan Reply, 1)}
	shop.hold = func(at Point) {
		if at == p {
			close(s.arrived)
			<-s.goOn
		}
	}
	shop.writes.(*sound).hold = shop.hold
	return s
}

const mug = `{"gift_id":"gift-mug","idempotency_key":"k"}`

func (s *stopped) call(ctx context.Context) Reply {
	return s.shop.Call(ctx, "local", s.shop.Tool("create_checkout_session"), json.RawMessage(mug))
}

// start makes the call, and comes back when it stands still or is over.
func (s *stopped) start(ctx context.Context) {
	over := make(chan struct{})
	go func() {
		s.answer <- s.call(ctx)
		close(over)
	}()
	select {
	case <-s.arrived:
	case <-over:
	}
}

// However two servers that live at once get into each other's way, there is one
// charge and one session, and nobody is told anything else.
func TestInterleaved(t *testing.T) {
	for _, first := range []string{"early", "late"} {
		for _, a := range points {
			for _, b := range points {
				t.Run(fmt.Sprintf("%s at %s, then %s", first, a, b), func(t *testing.T) {
					file := filepath.Join(t.TempDir(), "shop.db")
					one := stopAt(t, file, a)
					other := stopAt(t, file, b)
					if first == "late" {
						one, other = other, one
					}
					one.start(t.Context())
					other.start(t.Context())
					close(one.goOn)
					answers := []Reply{<-one.answer}
					close(other.goOn)
					answers = append(answers, <-other.answer)
					check(t, one.shop, answers)
				})
			}
		}
	}
}

func check(t *testing.T, shop *Shop, answers []Reply) {
	t.Helper()
	charges, sessions := 0, 0
	row := shop.store.db.QueryRowContext(t.Context(), `select (select count(*) from charges), (select count(*) from checkout_sessions)`)
	if err := row.Scan(&charges, &sessions); err != nil {
		t.Fatal(err)
	}
	if charges != 1 || sessions != 1 {
		t.Errorf("%d charges and %d sessions, want one of each", charges, sessions)
	}
	stored := ""
	if err := shop.store.db.QueryRowContext(t.Context(), `select result from idempotency where state = 'done'`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	inUse := string(errInUse().body())
	for _, r := range answers {
		if r.Text != stored && r.Text != inUse {
			t.Errorf("answered %s, stored is %s", r.Text, stored)
		}
	}
}

// A client that goes away stops nothing: half a write is worse than one whose
// answer nobody hears.
func TestClientGoesAway(t *testing.T) {
	for _, p := range points {
		t.Run(string(p), func(t *testing.T) {
			s := stopAt(t, filepath.Join(t.TempDir(), "shop.db"), p)
			ctx, leave := context.WithCancel(t.Context())
			s.start(ctx)
			leave()
			close(s.goOn)
			check(t, s.shop, []Reply{<-s.answer})
		})
	}
}
