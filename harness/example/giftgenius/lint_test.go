package giftgenius_test

import (
	"context"
	"database/sql"
	"log/slog"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/example/giftgenius"
	"github.com/retake-harness/retake/harness/internal/lint"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// Each mistake is found by the linter, and in the sound shop there is none.
func TestLintFindsEachMistake(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		mistake giftgenius.Mistake // "" is none
		want    []string           // rules that only this mistake breaks
	}{
		{"", nil},
		{giftgenius.BareExceptions, []string{"probe/error-form", "probe/internals"}},
		{giftgenius.OneErrorKind, []string{"probe/dependency-final", "probe/names-argument", "probe/one-error-kind"}},
		{giftgenius.NonIdempotentWrites, []string{"probe/repeated-key"}},
		{giftgenius.UniversalTool, []string{"tool/no-output-schema", "tool/schema-closed", "tool/universal", "tool/write-key", "tool/write-when"}},
		{giftgenius.LeakedInternals, []string{"probe/internals"}},
		{giftgenius.SpinningWidget, []string{"widget/spinner", "widget/states"}},
		{giftgenius.ExcessPrivilege, []string{"tool/excess-privilege", "tool/no-output-schema", "tool/write-key", "tool/write-when"}},
		{giftgenius.IsErrorDisagrees, []string{"probe/iserror-disagrees"}},
		{giftgenius.LyingReadOnly, []string{"probe/read-only-lies"}},
	} {
		t.Run(string(tc.mistake), func(t *testing.T) {
			t.Parallel()
			found, notes := lintShop(t, tc.mistake)
			rules := map[string]bool{}
			for _, f := range found {
				rules[f.Rule] = true
			}
			if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(rules))); diff != "" {
				t.Errorf("(-want +got):\n%s%v", diff, found)
			}
			// The other writes are repeated by the drills.
			if tc.mistake == "" && (len(notes) != 1 || !strings.Contains(notes[0], "not tried with a repeated idempotency key: commit_order, prepare_order, send_gift_cards")) {
				t.Errorf("not tried: %q", notes)
			}
		})
	}
}

func TestEveryMistakeIsLinted(t *testing.T) {
	if n := len(giftgenius.Mistakes()); n != 9 {
		t.Errorf("there are %d mistakes; give each a row above", n)
	}
}

// lintShop looks at a shop, tries it, and tries one whose payment fails.
func lintShop(t *testing.T, mistake giftgenius.Mistake) ([]lint.Finding, []string) {
	t.Helper()
	session, file := shopSession(t, mistake, false)
	set, err := lint.Read(t.Context(), session, "giftgenius", lint.Place{})
	if err != nil {
		t.Fatal(err)
	}
	p := lint.NewProber(set, lint.Probing{
		Examples: map[string]jsontext.Value{"create_checkout_session": jsontext.Value(`{"gift_id":"gift-mug"}`)},
		Effects:  map[string]effect.Probe{"checkouts": checkouts(t, file)}, Key: "probe", Writes: true,
	})
	p.Try(t.Context(), session)
	failing, _ := shopSession(t, mistake, true)
	p.TryFailing(t.Context(), failing, "payment")
	probed, notes := p.Found()
	return append(set.Lint(), probed...), notes
}

func shopSession(t *testing.T, mistake giftgenius.Mistake, failing bool) (session *mcptool.Session, file string) {
	t.Helper()
	o := giftgenius.Options{File: filepath.Join(t.TempDir(), "shop.db"), DailyLimit: 50, Log: slog.New(slog.DiscardHandler), Hooks: giftgenius.Hooks{FailPayment: failing}}
	if mistake != "" {
		o.Mistakes = []giftgenius.Mistake{mistake}
	}
	shop, err := giftgenius.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shop.Close() })
	here, there := mcp.NewInMemoryTransports()
	if _, err := giftgenius.NewServer(shop, "local", o.Log).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	session, err = mcptool.Connect(t.Context(), mcptool.Server{Name: "giftgenius", Transport: here}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session, o.File
}

func checkouts(t *testing.T, file string) effect.Probe {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return effect.ProbeFunc(func(ctx context.Context) (int, error) {
		return effect.SQL{DB: db, Query: "select count(*) from checkout_sessions"}.Count(ctx)
	})
}
