package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// admit tells why a request is refused: its status and the reason; 0 lets it in.
func (s *Server) admit(r *http.Request) (status int, why string) {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return http.StatusForbidden, "the request comes from a web page; the gateway serves programs"
	}
	if s.options.Token == "" {
		if !isLoopback(hostOf(r.Host)) {
			return http.StatusForbidden, "the request asks for another host than loopback; ask at " + s.URL()
		}
		return 0, ""
	}
	if !s.knows(r) {
		return http.StatusUnauthorized, "the request does not bring the gateway's token where its API key belongs"
	}
	return 0, ""
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// knows tells whether the token is in one of the places for a key. How long it
// takes says nothing of how much of the token was right.
func (s *Server) knows(r *http.Request) bool {
	want := sha256.Sum256([]byte(s.options.Token))
	found := 0
	for _, key := range keysOf(r) {
		got := sha256.Sum256([]byte(key))
		found |= subtle.ConstantTimeCompare(want[:], got[:])
	}
	return found == 1
}

// keyHeaders are where SDKs send their keys.
var keyHeaders = [...]string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"}

func keysOf(r *http.Request) []string {
	var out []string
	for _, name := range keyHeaders {
		for _, v := range r.Header.Values(name) {
			out = append(out, strings.TrimPrefix(v, "Bearer "))
		}
	}
	return append(out, r.URL.Query()["key"]...)
}
