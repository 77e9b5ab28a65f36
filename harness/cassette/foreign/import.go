package foreign

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// Options say how a file is imported. The zero value takes the model calls alone.
type Options struct {
	All     bool               // keeps requests that are no model calls, too
	Redact  cassette.Redaction // what is taken out, besides what always is
	Secrets *redact.Values     // values that must not be written
}

// Imported is a cassette made of a file.
type Imported struct {
	File  *cassette.File
	Calls []Call
	Left  []Left // what was left out, in the order of the file
	// Doubts are what a reader should look at before the cassette is committed.
	Doubts []string
}

// Call is a model call of an imported cassette.
type Call struct {
	Interaction int // index into File.Interactions
	API         wire.API
	Model       string // as it was asked for; where that is not known, as it answered
}

// Left is a kind of request that was left out.
type Left struct {
	What     string // the host
	Requests int
}

// Import makes a cassette of a file: its model calls, redacted, with notes that say
// where they come from. A request without an answer is refused, and so is a file
// without any model call, or with the value of a secret.
func Import(f *File, o Options) (*Imported, error) {
	if f.Half == RequestOnly {
		return nil, invalid(f.Name, 1, 1, "the file is the body of a request without its answer; name the answer's file after it, or put both into one object {\"request\": …, \"response\": …}")
	}
	im := &Imported{File: &cassette.File{Name: f.Name, Version: 2, Notes: f.Notes}}
	im.File.Notes.Source = cassette.Imported
	for i := range f.Interactions {
		im.take(&f.Interactions[i], o.All)
	}
	if len(im.Calls) == 0 && !o.All {
		return nil, invalid(f.Name, 1, 1, "the file has no call to a model API that retake reads%s", im.where())
	}
	im.describe()
	clean, err := o.Redact.File(im.File, o.Secrets)
	if err != nil {
		return nil, err
	}
	im.File = clean
	im.doubt(f)
	return im, nil
}

// take files an interaction, or counts it as left out.
func (im *Imported) take(in *cassette.Interaction, all bool) {
	q := &in.Request
	api, ok := codec.Detect(q.Method, q.URL, q.Body)
	if !ok && !all {
		im.leave(q.URL)
		return
	}
	kept := *in
	kept.ID = len(im.File.Interactions)
	if kept.Notes == nil {
		kept.Notes = &cassette.Notes{}
	} else {
		notes := *kept.Notes
		kept.Notes = &notes
	}
	if kept.Notes.RecordedAt == "" {
		kept.Notes.RecordedAt = timeOf(in.Response.Header.Get("Date"))
	}
	if ok {
		c := Call{Interaction: kept.ID, API: api, Model: modelOf(api, in)}
		kept.Notes.Model, kept.Notes.SDK = c.Model, sdkOf(q.Header)
		im.Calls = append(im.Calls, c)
	}
	im.File.Interactions = append(im.File.Interactions, kept)
}

func (im *Imported) leave(address string) {
	host := address
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		host = u.Host
	}
	i := slices.IndexFunc(im.Left, func(l Left) bool { return l.What == host })
	if i < 0 {
		i = len(im.Left)
		im.Left = append(im.Left, Left{What: host})
	}
	im.Left[i].Requests++
}

func (im *Imported) where() string {
	var parts []string
	for _, l := range im.Left {
		parts = append(parts, l.What+" ("+strconv.Itoa(l.Requests)+")")
	}
	if parts == nil {
		return ""
	}
	return "; its requests went to: " + strings.Join(parts, ", ")
}

// describe moves to the file's notes what all interactions have in common.
func (im *Imported) describe() {
	file := &im.File.Notes
	for i := range im.File.Interactions {
		n := im.File.Interactions[i].Notes
		if i == 0 {
			file.Model, file.SDK, file.RecordedAt = n.Model, n.SDK, n.RecordedAt
		}
		if n.Model != file.Model {
			file.Model = ""
		}
		if n.SDK != file.SDK {
			file.SDK = ""
		}
		if file.RecordedAt == "" || n.RecordedAt != "" && n.RecordedAt < file.RecordedAt {
			file.RecordedAt = n.RecordedAt
		}
	}
	for i := range im.File.Interactions {
		n := im.File.Interactions[i].Notes
		if n.Model == file.Model {
			n.Model = ""
		}
		if n.SDK == file.SDK {
			n.SDK = ""
		}
		if n.RecordedAt == file.RecordedAt {
			n.RecordedAt = ""
		}
	}
}

func (im *Imported) doubt(f *File) {
	for _, w := range f.Warnings {
		im.Doubts = append(im.Doubts, w.Text)
	}
	if f.Half == AnswerOnly {
		im.Doubts = append(im.Doubts, "without a request a replay can only go by order: replay: {match: sequence}")
	}
	for i := range im.File.Interactions {
		in := &im.File.Interactions[i]
		for _, text := range [...][]byte{[]byte(in.Request.URL), in.Request.Body, in.Response.Body} {
			for _, what := range redact.Looks(string(text), false) {
				im.Doubts = append(im.Doubts, "interaction "+strconv.Itoa(i+1)+" has "+what+"; take it out before you commit the cassette")
			}
		}
	}
}

func modelOf(api wire.API, in *cassette.Interaction) string {
	c, _ := codec.For(api)
	if len(in.Request.Body) > 0 {
		if q, err := c.DecodeRequest(in.Request.URL, in.Request.Body); err == nil && q.Model != "" {
			return q.Model
		}
	}
	body, err := in.Response.Plain()
	if err != nil {
		return ""
	}
	if a, err := c.DecodeResponse(in.Response.Code, in.Response.Header.Get("Content-Type"), body); err == nil {
		return a.Model
	}
	return ""
}

// sdkOf is the client that asked, as its headers tell.
func sdkOf(h cassette.Header) string {
	const most = 100
	agent := h.Get(http.CanonicalHeaderKey("User-Agent"))
	if language, version := h.Get("X-Stainless-Lang"), h.Get("X-Stainless-Package-Version"); version != "" && !strings.Contains(agent, version) {
		agent = strings.TrimSpace(agent + " (" + language + " " + version + ")")
	}
	if len(agent) > most {
		agent = strings.ToValidUTF8(agent[:most], "")
	}
	return agent
}
