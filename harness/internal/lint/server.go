package lint

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// Widget is a resource that a host shows as a page.
type Widget struct {
	URI         string
	MIME        string
	Description string
	Meta        object // what the resource says of itself, when it is read before when it is listed
	HTML        string
	Err         string // why it could not be read; "" where it could
	page        *page
}

// Names of mime types and of _meta; the older ones are those of ChatGPT's apps
// before there was a standard.
const (
	mimeApp      = "text/html;profile=mcp-app"
	mimeOld      = "text/html+skybridge"
	oldTemplate  = "openai/outputTemplate"
	oldCSP       = "openai/widgetCSP"
	oldDomain    = "openai/widgetDomain"
	oldBorder    = "openai/widgetPrefersBorder"
	oldDescribe  = "openai/widgetDescription"
	oldReachable = "openai/widgetAccessible"
)

// Read asks a server for its tools and widgets. at is where the server is
// declared; it may be nowhere. An error is of class world.
func Read(ctx context.Context, session *mcptool.Session, name string, at Place) (*Set, error) {
	listed, err := session.Listed(ctx)
	if err != nil {
		return nil, err
	}
	s := &Set{Name: name, Server: true, Place: at}
	for i := range listed {
		s.Tools = append(s.Tools, Tool{Decl: listed[i].Decl, Meta: listed[i].Meta})
	}
	resources, err := session.Resources(ctx)
	if err != nil {
		return nil, err
	}
	for _, uri := range s.templates() {
		s.Widgets = append(s.Widgets, s.read(ctx, session, uri, resources))
	}
	for i := range resources {
		r := &resources[i]
		if !slices.ContainsFunc(s.Widgets, func(w Widget) bool { return w.URI == r.URI }) && (strings.HasPrefix(r.URI, "ui:") || isWidget(r.MIME)) {
			s.Widgets = append(s.Widgets, s.read(ctx, session, r.URI, resources))
		}
	}
	return s, nil
}

func isWidget(mime string) bool {
	return strings.HasPrefix(mime, "text/html;") || strings.HasPrefix(mime, "text/html+")
}

// templates are the addresses of widgets that the tools name.
func (s *Set) templates() []string {
	var out []string
	for i := range s.Tools {
		for _, uri := range s.Tools[i].templates() {
			if !slices.Contains(out, uri) {
				out = append(out, uri)
			}
		}
	}
	return out
}

// templates are the addresses by the new name and by the old one.
func (t *Tool) templates() []string {
	meta := objectOf(t.Meta)
	var out []string
	for _, uri := range []string{meta.object("ui").text("resourceUri"), meta.text("ui/resourceUri"), meta.text(oldTemplate)} {
		if uri != "" && !slices.Contains(out, uri) {
			out = append(out, uri)
		}
	}
	return out
}

func (s *Set) read(ctx context.Context, session *mcptool.Session, uri string, listed []mcptool.Resource) Widget {
	w := Widget{URI: uri, Meta: object{}}
	for i := range listed {
		if r := &listed[i]; r.URI == uri {
			w.MIME, w.Description = r.MIME, r.Description
			w.take(objectOf(r.Meta))
		}
	}
	contents, err := session.Read(ctx, uri)
	switch {
	case err != nil:
		w.Err = err.Error()
		return w
	case len(contents) == 0 || strings.TrimSpace(contents[0].Text) == "":
		w.Err = "there is nothing in it"
		return w
	}
	c := &contents[0]
	if c.MIME != "" {
		w.MIME = c.MIME
	}
	w.take(objectOf(c.Meta))
	w.HTML = c.Text
	return w
}

// take adds to the widget's _meta; what is said later counts.
func (w *Widget) take(meta object) {
	for name, v := range meta {
		below, isObject := v.(map[string]any)
		if had := w.Meta.object(name); had != nil && isObject {
			maps.Copy(had, below)
			continue
		}
		w.Meta[name] = v
	}
}

// ui is what the widget says under the names of the standard.
func (w *Widget) ui() object { return w.Meta.object("ui") }

// shown is the page, read once.
func (w *Widget) shown() *page {
	if w.page == nil {
		w.page = readPage(w.HTML)
	}
	return w.page
}
