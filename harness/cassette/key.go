package cassette

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
)

// Mode is how a request finds its recording.
type Mode string

// The modes of matching.
const (
	Normalised Mode = "normalised" // what the request means; the default
	Strict     Mode = "strict"     // the body as JSON
	Sequence   Mode = "sequence"   // the order alone
)

// Meaning appends to dst the canonical text of what a request means, so that
// equal texts mean equal requests. target is the path with its query. ok is
// false for a request that it does not understand; that one is then matched as
// in mode strict.
type Meaning func(dst []byte, method, target string, body []byte) (key []byte, ok bool)

type digest [sha256.Size]byte

// matcher makes keys of questions.
type matcher struct {
	mode    Mode
	ignore  []jsondoc.Pointer
	headers []string // canonical names, sorted
	meaning Meaning
	texts   sync.Pool // of *[]byte: what a key is made of is not kept
}

func newMatcher(mode Mode, ignore, headers []string, meaning Meaning) (*matcher, error) {
	m := &matcher{mode: mode, meaning: meaning}
	switch mode {
	case "":
		m.mode = Normalised
	case Normalised, Strict, Sequence:
	default:
		return nil, failure.Errorf(failure.ScenarioInvalid, "unknown mode of matching %q; it is normalised, strict or sequence", mode)
	}
	var err error
	if m.ignore, err = jsondoc.ParsePointers(ignore); err != nil {
		return nil, failure.Errorf(failure.ScenarioInvalid, "ignore rule: %w", err)
	}
	for _, h := range headers {
		m.headers = append(m.headers, http.CanonicalHeaderKey(h))
	}
	slices.Sort(m.headers)
	return m, nil
}

// place is what counts of a request besides its body. The host does not: agents
// are pointed at other base URLs.
func (m *matcher) place(method string, u *url.URL, header func(name string) string) string {
	parts := []string{method, " ", target(u)}
	for _, name := range m.headers {
		parts = append(parts, "\n", name, ": ", header(name))
	}
	return strings.Join(parts, "")
}

// target is the path with its query: sorted, without what gives access.
func target(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery == "" {
		return path
	}
	pairs := strings.Split(u.RawQuery, "&")
	pairs = slices.DeleteFunc(pairs, func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return pair == "" || secretParameter(name)
	})
	if len(pairs) == 0 {
		return path
	}
	slices.Sort(pairs)
	return path + "?" + strings.Join(pairs, "&")
}

func secretParameter(name string) bool {
	switch strings.ToLower(name) {
	case "key", "api_key", "api-key", "apikey", "access_token":
		return true
	}
	return false
}

// parts takes a place apart again.
func parts(place string) (method, target, headers string) {
	line, headers, _ := strings.Cut(place, "\n")
	method, target, _ = strings.Cut(line, " ")
	return method, target, headers
}

// withoutIgnored is the body after the ignore rules; one that is not JSON stays.
func (m *matcher) withoutIgnored(body []byte) []byte {
	if len(m.ignore) == 0 {
		return body
	}
	out, err := jsondoc.Remove(nil, body, m.ignore)
	if err != nil {
		return body
	}
	return out
}

// understood is the text that stands for a question's body in its key.
func (m *matcher) understood(dst []byte, q question) []byte {
	body := m.withoutIgnored(q.body)
	if m.mode == Normalised && m.meaning != nil {
		method, target, _ := parts(q.place)
		if out, ok := m.meaning(dst, method, target, body); ok {
			return out
		}
	}
	out, err := jsondoc.Canonical(dst, body)
	if err != nil {
		return append(dst, body...)
	}
	return out
}

// key is the mode's key of a question.
func (m *matcher) key(q question) digest {
	text, _ := m.texts.Get().(*[]byte)
	if text == nil {
		text = new([]byte)
	}
	defer m.texts.Put(text)
	*text = append(append((*text)[:0], q.place...), 0)
	*text = m.understood(*text, q)
	return sha256.Sum256(*text)
}
