package redact

import (
	"encoding/base64"
	"encoding/xml"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// spellings are the ways in which a value may stand in a text, without doubles.
func spellings(value string) []string {
	once := jsonText(value)
	all := []string{
		value, once, jsonText(once), htmlSafe(once), strings.ReplaceAll(once, "/", `\/`),
		inner(strconv.Quote(value)), xmlText(value), strings.ReplaceAll(value, "|", `\|`),
		url.QueryEscape(value), url.PathEscape(value),
	}
	all = append(all, base64Of(value)...)
	for line := range strings.SplitSeq(value, "\n") {
		// A text of several lines is indented where it is shown. The first and last
		// line of a PEM block are no secret.
		line = strings.TrimSpace(line)
		if len(line) >= long && len(line) < len(value) && !strings.HasPrefix(line, "-----") {
			all = append(all, line)
		}
	}
	var out []string
	for _, s := range all {
		if len(s) >= Least && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// inner is a quoted text without its quotes.
func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

func jsonText(s string) string {
	quoted, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return s
	}
	return inner(string(quoted))
}

func htmlSafe(s string) string {
	return strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(s)
}

func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes all
	return b.String()
}

// base64Of is what every base64 text has in common that has the value somewhere
// in it: one part for each place in a group of three bytes, without the letters
// that its neighbours have a say in.
func base64Of(value string) []string {
	var out []string
	for before := range 3 {
		text := make([]byte, before, before+len(value))
		text = append(text, value...)
		first := (8*before + 5) / 6
		last := 8 * len(text) / 6
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, enc.EncodeToString(text)[first:last])
		}
	}
	return out
}
