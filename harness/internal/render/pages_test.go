package render

import (
	"strings"
	"testing"
)

// What is put in front stands behind a doctype, without which the page would be laid
// out otherwise, and before all else.
func TestInFront(t *testing.T) {
	const mine = `<meta charset="utf-8"><X>`
	for _, tc := range []struct{ why, page, want string }{
		{"a doctype", "<!DOCTYPE html>\n<p>", "<!DOCTYPE html>" + mine + "\n<p>"},
		{"a byte order mark and comments", "\ufeff <!-- a > b -->\n<!doctype html><p>", "\ufeff <!-- a > b -->\n<!doctype html>" + mine + "<p>"},
		{"none", "<p>", mine + "<p>"},
		{"one that comes too late", "<p><!doctype html>", mine + "<p><!doctype html>"},
		{"nothing", "", mine},
	} {
		if got := inFront(tc.page, "<X>"); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
	}
}

func TestPolicy(t *testing.T) {
	got := policy(&Policy{
		Connect: []string{"https://api.example", "*", "https://a.example; script-src *", "https://x.example/path"}, Resource: []string{"https://*.cdn.example:8443"}, BaseURI: []string{`"><script>`},
	})
	for _, want := range []string{"connect-src data: blob: https://api.example;", "img-src data: blob: https://*.cdn.example:8443;", "frame-src 'none';", "base-uri 'none';"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Count(got, `"`) != 4 || strings.Contains(got, "a.example") {
		t.Errorf("an origin is more than one: %s", got)
	}
}

// A value ends no script.
func TestLiteral(t *testing.T) {
	got, err := literal(map[string]string{"a": "</script><!--\u2028"})
	if err != nil || strings.ContainsAny(got, "<>\u2028") {
		t.Errorf("%q, %v", got, err)
	}
}
