package fault

import (
	"net/http"
)

// badBody is an answer with status 200 that is none. In real life a login page or
// a maintenance page stands in the way, or a gateway mangles the JSON; several
// clients make an empty answer of it. A right loop calls it a protocol error.
var badBody = Fault{
	Name:    "model.bad_body",
	What:    "status 200 with an HTML page, with malformed JSON, or with nothing",
	Breaks:  "an empty answer without an error, taken for success",
	Right:   "class protocol, never an empty success",
	Takes:   []Param{{"kind", "html"}},
	Kinds:   []string{"html", "json", "empty"},
	Retried: true,
	model: func(s *strike) (*http.Response, error) {
		s.damaged = true
		switch s.params().Kind {
		case "json":
			return s.reply(http.StatusOK, nil, []byte(`{"id": "answer-1", "model": , "error": None}`)), nil
		case "empty":
			return s.reply(http.StatusOK, nil, nil), nil
		}
		page := "<!DOCTYPE html>\n<html><head><title>Maintenance</title></head><body><p>We will be back soon.</p></body></html>\n"
		return s.reply(http.StatusOK, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, []byte(page)), nil
	},
}
