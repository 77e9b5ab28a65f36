package lint

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// page is what the linter wants to know of a widget's HTML.
type page struct {
	states  []string // values of data-state that are shown somewhere
	loading bool     // something says that it is waiting
	binds   []string // dotted paths into structuredContent, as data-bind says them, sorted
	loads   []load
	calls   []string // tools that its scripts call, sorted
}

// load is an origin from which the page takes something.
type load struct {
	origin string
	kind   string // a list of the CSP: connectDomains, resourceDomains, …
}

func readPage(text string) *page {
	p := &page{}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return p // a reader of a string fails at nothing
	}
	for n := range root.Descendants() {
		p.node(n)
	}
	for _, sorted := range []*[]string{&p.states, &p.binds, &p.calls} {
		slices.Sort(*sorted)
		*sorted = slices.Compact(*sorted)
	}
	return p
}

func (p *page) node(n *html.Node) {
	switch {
	case n.Type == html.TextNode && n.Parent != nil && n.Parent.DataAtom == atom.Style:
		p.style(n.Data)
	case n.Type == html.TextNode && n.Parent != nil && n.Parent.DataAtom == atom.Script:
		p.script(n.Data)
	case n.Type == html.ElementNode:
		for _, a := range n.Attr {
			p.attribute(n, a.Key, a.Val)
		}
		p.loading = p.loading || n.DataAtom == atom.Progress
	}
}

var (
	waitingClass = regexp.MustCompile(`(?i)(^|[\s_-])(spinner|loading|loader|skeleton)([\s_-]|$)`)
	cssURL       = regexp.MustCompile(`(?:url\(\s*["']?|@import\s+["'])((?:https?|wss?):[^"')\s]+)`)
	stateOfCSS   = regexp.MustCompile(`data-state\s*[~|^$*]?=\s*\\?["']?([a-z]+)`)
	stateOfJS    = regexp.MustCompile(`dataset\.state\s*=\s*["'` + "`" + `]([a-z]+)|setAttribute\(\s*["']data-state["']\s*,\s*["']([a-z]+)`)
	jsConnects   = regexp.MustCompile(`(?:\bfetch\(|new\s+WebSocket\(|new\s+EventSource\(|\.open\(\s*["'][A-Z]+["']\s*,|sendBeacon\()\s*["'` + "`" + `]((?:https?|wss?):[^"'` + "`" + `\s$]+)`)
	jsImports    = regexp.MustCompile(`\b(?:import\(?|from|importScripts\()\s*["'](https?:[^"'\s]+)`)
	jsCalls      = regexp.MustCompile(`\b(?:callTool|callServerTool)\(\s*(?:\{\s*["']?name["']?\s*:\s*)?["'` + "`" + `]([A-Za-z0-9_.-]+)|["']tools/call["'][^;]{0,200}?\bname["']?\s*:\s*["']([A-Za-z0-9_.-]+)`)
)

func (p *page) attribute(n *html.Node, name, value string) {
	switch name {
	case "data-state":
		p.state(strings.Fields(value)...)
	case "data-bind":
		p.binds = append(p.binds, strings.TrimSpace(value))
	case "aria-busy":
		p.loading = p.loading || value == "true"
	case "role":
		p.loading = p.loading || value == "progressbar"
	case "class":
		p.loading = p.loading || waitingClass.MatchString(value)
	case "style":
		p.style(value)
	case "src", "poster":
		p.load(value, sourceKind(n.DataAtom))
	case "srcset":
		for part := range strings.SplitSeq(value, ",") {
			if fields := strings.Fields(part); len(fields) > 0 {
				p.load(fields[0], resourceDomains)
			}
		}
	case "href":
		switch n.Data {
		case "link", "image", "use":
			p.load(value, resourceDomains)
		case "base":
			p.load(value, baseURIDomains)
		}
	case "action", "formaction":
		p.load(value, connectDomains)
	}
}

func sourceKind(a atom.Atom) string {
	if a == atom.Iframe || a == atom.Frame || a == atom.Embed {
		return frameDomains
	}
	return resourceDomains
}

func (p *page) state(names ...string) {
	p.states = append(p.states, names...)
	p.loading = p.loading || slices.Contains(names, "loading")
}

func (p *page) style(text string) {
	for _, m := range cssURL.FindAllStringSubmatch(text, -1) {
		p.load(m[1], resourceDomains)
	}
	for _, m := range stateOfCSS.FindAllStringSubmatch(text, -1) {
		p.state(m[1])
	}
}

func (p *page) script(text string) {
	for _, m := range stateOfJS.FindAllStringSubmatch(text, -1) {
		p.state(m[1] + m[2])
	}
	for _, m := range stateOfCSS.FindAllStringSubmatch(text, -1) {
		p.state(m[1])
	}
	for _, m := range jsConnects.FindAllStringSubmatch(text, -1) {
		p.load(m[1], connectDomains)
	}
	for _, m := range jsImports.FindAllStringSubmatch(text, -1) {
		p.load(m[1], resourceDomains)
	}
	for _, m := range jsCalls.FindAllStringSubmatch(text, -1) {
		p.calls = append(p.calls, m[1]+m[2])
	}
}

// load notes the origin of an address that leads out of the page.
func (p *page) load(address, kind string) {
	if strings.HasPrefix(address, "//") {
		address = "https:" + address
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" {
		return
	}
	l := load{origin: u.Scheme + "://" + u.Host, kind: kind}
	if !slices.Contains(p.loads, l) {
		p.loads = append(p.loads, l)
	}
}
