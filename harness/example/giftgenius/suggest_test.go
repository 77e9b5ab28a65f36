package giftgenius_test

import (
	"strings"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness/example/giftgenius"
)

func TestNothingFoundSaysWhy(t *testing.T) {
	got := call(t, open(t, giftgenius.Options{}), "local", "suggest_gifts", `{"age":30,"relationship_type":"friend","budget_max":1}`)
	if !got.OK || got.isError || got.Gifts == nil || len(got.Gifts) > 0 || got.Reason == "" {
		t.Errorf("got %s", got.text)
	}
}

func TestBudgetIsInclusive(t *testing.T) {
	got := call(t, open(t, giftgenius.Options{}), "local", "suggest_gifts", `{"age":30,"relationship_type":"friend","budget_min":14,"budget_max":14.00}`)
	if len(got.Gifts) != 1 || got.Gifts[0].ID != "gift-mug" {
		t.Errorf("got %s", got.text)
	}
}

// The specimens among the goods are there: one that speaks to the model, and one
// that is never suggested.
func TestGoods(t *testing.T) {
	got := call(t, open(t, giftgenius.Options{}), "local", "suggest_gifts", `{"age":40,"relationship_type":"parent"}`)
	injected := false
	for _, g := range got.Gifts {
		injected = injected || strings.Contains(g.Description, "commit_order")
		if g.ID == "gift-radio" {
			t.Error("a discontinued gift is suggested")
		}
	}
	if !injected {
		t.Errorf("no gift's description asks for a commit: %s", got.text)
	}
}

func TestDailyLimit(t *testing.T) {
	const args = `{"age":30,"relationship_type":"friend"}`
	f := file(t)
	shop := open(t, giftgenius.Options{File: f, DailyLimit: 2})
	for range 2 {
		if got := call(t, shop, "alice", "suggest_gifts", args); !got.OK {
			t.Fatal(got.text)
		}
	}
	// A refused call does not count.
	if got := call(t, shop, "bob", "suggest_gifts", `{"age":-1,"relationship_type":"friend"}`); got.Error.Code != "VALIDATION_ERROR" {
		t.Fatal(got.text)
	}
	if got := call(t, shop, "alice", "suggest_gifts", args); got.Error.Code != "DAILY_LIMIT" || got.Error.Retryable {
		t.Errorf("got %s", got.text)
	}
	if got := call(t, shop, "bob", "suggest_gifts", args); !got.OK {
		t.Errorf("alice's limit is bob's: %s", got.text)
	}
	tomorrow := open(t, giftgenius.Options{File: f, DailyLimit: 2, Hooks: giftgenius.Hooks{ClockOffset: 24 * time.Hour}})
	if got := call(t, tomorrow, "alice", "suggest_gifts", args); !got.OK {
		t.Errorf("got %s", got.text)
	}
}
