package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/redact"
)

const key = `hun"ter2/<&>\ä?`

func quoted(s string) string { return string(must(json.Marshal(s))) }

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// numbered spells each character as some writers of JSON spell a few.
func numbered(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, `\u%04X`, u)
	}
	return b.String()
}

func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

func TestEverySpellingIsMasked(t *testing.T) {
	v := redact.New(redact.Secret{Name: "KEY", Value: key})
	for why, text := range map[string]string{
		"as it is":                       key,
		"inside a JSON text":             quoted(key),
		"JSON inside a JSON text":        quoted(quoted(key)),
		"as Go quotes":                   strconv.Quote(key),
		"in XML":                         xmlText(key),
		"in a query":                     url.QueryEscape(key),
		"in a path":                      url.PathEscape(key),
		"in a table of Markdown":         strings.ReplaceAll(key, "|", `\|`),
		"base64":                         base64.StdEncoding.EncodeToString([]byte(key)),
		"base64 after one byte":          base64.StdEncoding.EncodeToString([]byte("x" + key + "yz")),
		"base64 of a basic credential":   base64.StdEncoding.EncodeToString([]byte("me:" + key)),
		"base64 for addresses":           base64.RawURLEncoding.EncodeToString([]byte(key + "!")),
		"JSON with escapes for browsers": `{"a":"` + strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(strings.Trim(quoted(key), `"`)) + `"}`,
		"each character by its number":   numbered(key),
		"by number, in JSON in a text":   quoted(numbered(key)),
		"by number, in a fence in JSON":  quoted("```json\n" + `{"k":"` + numbered(key) + `"}` + "\n```"),
		"by number, three times":         quoted(quoted(numbered(key))),
		"half of it by number":           key[:4] + numbered(key[4:]),
	} {
		got := v.Text("before " + text + " after")
		if !strings.Contains(got, "[secret KEY]") || strings.Contains(got, "hun") || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("%s: %q became %q", why, text, got)
		}
		if name, ok := v.Found([]byte(text)); !ok || name != "KEY" {
			t.Errorf("%s: %q, %v", why, name, ok)
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	v := redact.New(redact.Secret{Name: "SHORT", Value: "on"}, redact.Secret{Name: "UNSET"}, redact.Secret{Name: "KEY", Value: "sk-ant-api03-0123456789abcdef"})
	for why, text := range map[string]string{
		"a value that could be a word":    "based on it",
		"what the keys of all users have": "sk-ant-api03-",
		"nothing":                         "",
	} {
		if got := v.Text(text); got != text {
			t.Errorf("%s: %q became %q", why, text, got)
		}
	}
	if redact.New(redact.Secret{Name: "SHORT", Value: "on"}) != nil {
		t.Error("nothing to look for is not nil")
	}
	var none *redact.Values
	if got := none.Text("x"); got != "x" || none.Plain() != nil {
		t.Error("nil is no empty set")
	}
}

// Messages show long texts shortened.
func TestTheBeginningOfALongSecretIsMasked(t *testing.T) {
	v := redact.New(redact.Secret{Name: "KEY", Value: "sk-ant-api03-0123456789abcdef"})
	if got, want := v.Text(`asked "sk-ant-api03-0123456789a…"`), `asked "[secret KEY]…"`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLinesOfALongSecretAreMasked(t *testing.T) {
	v := redact.New(redact.Secret{Name: "PEM", Value: "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n-----END KEY-----\n"})
	if got, want := v.Text("     MIIEvQIBADANBgkqhkiG9w0BAQEF\n"), "     [secret PEM]\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAJSONObjectStaysOne(t *testing.T) {
	v := redact.New(redact.Secret{Name: "PIN", Value: "123456"}, redact.Secret{Name: "KEY", Value: `abcdef\`})
	got := v.Bytes([]byte(`{"tokens":123456, "pin":"it is 123456", "escaped":"\u0031\u0032\u0033\u0034\u0035\u0036 123456", "k":"abcdef\"", "123456":1}` + "\n"))
	want := `{"tokens":123456, "pin":"it is [secret PIN]", "escaped":"[secret PIN] [secret PIN]", "k":"abcdef\"", "[secret PIN]":1}` + "\n"
	if string(got) != want || !jsontext.Value(bytes.TrimSpace(got)).IsValid() {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestNothingFoundCostsNothing(t *testing.T) {
	v := redact.New(redact.Secret{Name: "KEY", Value: "sk-ant-api03-0123456789abcdef"})
	b := bytes.Repeat([]byte("an answer without any secret in it. "), 100)
	if n := testing.AllocsPerRun(10, func() { b = v.Bytes(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := redact.New(redact.Secret{Name: "KEY", Value: "hunter2-hunter2"}).Writer(&b)
	if n, err := w.Write([]byte("pw=hunter2-hunter2\n")); n != 19 || err != nil || b.String() != "pw=[secret KEY]\n" {
		t.Errorf("%d, %v, %q", n, err, b.String())
	}
}

// The search agrees with the obvious one.
func TestFoundIsWhatContainsSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringMatching(`[ab]{6,9}`)
		var secrets []redact.Secret
		for _, s := range rapid.SliceOfN(letters, 1, 3).Draw(t, "secrets") {
			secrets = append(secrets, redact.Secret{Name: "S", Value: s})
		}
		text := rapid.StringMatching(`[abc]{0,40}`).Draw(t, "text")
		want := false
		for _, s := range secrets {
			want = want || strings.Contains(text, s.Value)
		}
		v := redact.New(secrets...)
		if _, got := v.Found([]byte(text)); got != want {
			t.Fatalf("found %v, want %v", got, want)
		}
		masked := v.Text(text)
		for _, s := range secrets {
			if strings.Contains(masked, s.Value) {
				t.Fatalf("%q is left of %q", masked, text)
			}
		}
	})
}

func BenchmarkBytes(b *testing.B) {
	v := redact.New(redact.Secret{Name: "A", Value: "sk-ant-api03-0123456789abcdef"}, redact.Secret{Name: "B", Value: "sk-proj-0123456789abcdef"}, redact.Secret{Name: "C", Value: "AIzaSy0123456789"})
	text := bytes.Repeat([]byte("an answer without any secret in it. "), 120)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		v.Bytes(text)
	}
}

// What is left of a text after masking has no secret under any escapes, and what is
// no secret's stays as it is written.
func TestEscapesAroundASecretStay(t *testing.T) {
	v := redact.New(redact.Secret{Name: "KEY", Value: "p\u00e4ssword-\U0001F511"})
	for text, want := range map[string]string{
		`a\u0062 "p\u00e4ssword-\ud83d\udd11" \u00e4`:    `a\u0062 "[secret KEY]" \u00e4`,
		`C:\users\x p\\u00e4ssword-\\uD83D\\uDD11.`:      `C:\users\x [secret KEY].`,
		`p\xe4ssword-\ud83d\udd11 and p\u00e4ssword`:     `[secret KEY] and p\u00e4ssword`,
		`p\u00e4ssword-\ud83d and \u, \u00, \x, \xzz, \`: `p\u00e4ssword-\ud83d and \u, \u00, \x, \xzz, \`,
	} {
		if got := v.Text(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	if _, at, ok := v.Where([]byte(`a\u0062 "p\u00e4ssword-\ud83d\udd11"`)); !ok || at != 9 {
		t.Errorf("found at %d, %v", at, ok)
	}
}

// However a secret is spelled by number, in whatever it is quoted, nothing is left.
func TestNoEscapeHidesASecret(t *testing.T) {
	v := redact.New(redact.Secret{Name: "KEY", Value: key})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for _, r := range key {
			switch {
			case rapid.Bool().Draw(t, "by number"):
				b.WriteString(numbered(string(r)))
			default:
				plain := quoted(string(r))
				b.WriteString(plain[1 : len(plain)-1])
			}
		}
		text := b.String()
		for range rapid.IntRange(0, 2).Draw(t, "quoted") {
			text = quoted(rapid.StringMatching("[a-z ]{0,5}").Draw(t, "before") + text)
		}
		masked := v.Text(text)
		if !strings.Contains(masked, "[secret KEY]") {
			t.Fatalf("%s became %s", text, masked)
		}
		if _, found := v.Found([]byte(masked)); found {
			t.Fatalf("%s still has it", masked)
		}
	})
}
