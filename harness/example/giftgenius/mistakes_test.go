package giftgenius_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/example/giftgenius"
)

// seen is what can be seen of a shop from outside.
type seen struct {
	badArgs, noGift, failing giftgenius.Reply // answers to three kinds of errors
	tools                    []string
	widget                   string
	charges                  int // after two calls with one key
	readCharges              int // after a call of a read tool
}

func look(t *testing.T, m ...giftgenius.Mistake) seen {
	t.Helper()
	f := file(t)
	shop := open(t, giftgenius.Options{File: f, Mistakes: m})
	failing := open(t, giftgenius.Options{File: file(t), Mistakes: m, Hooks: giftgenius.Hooks{FailPayment: true}})
	const checkout = `{"gift_id":"gift-mug","idempotency_key":"k"}`
	ask := func(s *giftgenius.Shop, tool, args string) giftgenius.Reply {
		return s.Call(context.WithoutCancel(t.Context()), "local", s.Tool(tool), json.RawMessage(args))
	}
	out := seen{
		badArgs: ask(shop, "suggest_gifts", `{"age":-1,"relationship_type":"friend"}`),
		noGift:  ask(shop, "create_checkout_session", `{"gift_id":"gift-moon","idempotency_key":"n"}`),
		failing: ask(failing, "create_checkout_session", checkout),
	}
	for range 2 {
		ask(shop, "create_checkout_session", checkout)
	}
	out.charges = count(t, f, charges)
	ask(shop, "suggest_gifts", `{"age":30,"relationship_type":"friend"}`)
	out.readCharges = count(t, f, charges) - out.charges
	session := connect(t, shop)
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		out.tools = append(out.tools, tool.Name)
	}
	res, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: giftgenius.WidgetURI})
	if err != nil {
		t.Fatal(err)
	}
	out.widget = res.Contents[0].Text
	return out
}

func code(r giftgenius.Reply) string {
	var a answer
	if json.Unmarshal([]byte(r.Text), &a) != nil {
		return "no JSON"
	}
	return a.Error.Code
}

// signs are how each mistake shows.
var signs = map[giftgenius.Mistake]func(s seen) bool{
	giftgenius.BareExceptions: func(s seen) bool { return code(s.noGift) == "no JSON" && strings.Contains(s.noGift.Text, "goroutine ") },
	giftgenius.OneErrorKind: func(s seen) bool {
		return code(s.badArgs) == code(s.noGift) && code(s.noGift) == code(s.failing) && code(s.failing) != "no JSON"
	},
	giftgenius.NonIdempotentWrites: func(s seen) bool { return s.charges != 1 },
	giftgenius.UniversalTool:       func(s seen) bool { return slices.Contains(s.tools, "do_anything") },
	giftgenius.LeakedInternals: func(s seen) bool {
		return code(s.noGift) == "NOT_FOUND" && strings.Contains(s.noGift.Text, "select ") && strings.Contains(s.noGift.Text, "shop.db") &&
			strings.Contains(s.failing.Text, "https://payments.")
	},
	giftgenius.SpinningWidget:   func(s seen) bool { return !strings.Contains(s.widget, `[data-state="error"]`) },
	giftgenius.ExcessPrivilege:  func(s seen) bool { return slices.Contains(s.tools, "run_sql") },
	giftgenius.IsErrorDisagrees: func(s seen) bool { return !s.badArgs.IsError && code(s.badArgs) == "VALIDATION_ERROR" },
	giftgenius.LyingReadOnly:    func(s seen) bool { return s.readCharges != 0 },
}

// Each mistake shows, and no other one with it; without any, none does.
func TestMistakesShow(t *testing.T) {
	t.Parallel()
	for _, planted := range append(giftgenius.Mistakes(), "") {
		t.Run(string(planted), func(t *testing.T) {
			t.Parallel()
			var all []giftgenius.Mistake
			if planted != "" {
				all = append(all, planted)
			}
			s := look(t, all...)
			for _, m := range giftgenius.Mistakes() {
				if shows := signs[m](s); shows != (m == planted) {
					t.Errorf("%s shows: %v", m, shows)
				}
			}
		})
	}
}

func TestUnknownMistake(t *testing.T) {
	_, err := giftgenius.Open(t.Context(), giftgenius.Options{File: file(t), Mistakes: []giftgenius.Mistake{"universal"}})
	if err == nil || !strings.Contains(err.Error(), `unknown mistake "universal"`) {
		t.Errorf("got %v", err)
	}
}

// The planted tools do what they promise: a specimen that always fails would be
// found for the wrong reason.
func TestPlantedToolsWork(t *testing.T) {
	shop := open(t, giftgenius.Options{Mistakes: []giftgenius.Mistake{giftgenius.UniversalTool, giftgenius.ExcessPrivilege}})
	if got := call(t, shop, "local", "do_anything", `{"operation":"prepare_order","payload":{"gift_id":"gift-mug","idempotency_key":"k"}}`); got.DraftID == "" {
		t.Errorf("got %s", got.text)
	}
	if got := call(t, shop, "local", "run_sql", `{"query":"select count(*) from drafts"}`); got.text != `{"ok":true,"rows":[[1]]}` {
		t.Errorf("got %s", got.text)
	}
}
