// Package view draws reports as one HTML file that needs nothing else: the runs,
// models and verdicts in it, each scenario's conversation, the matrices of sweeps
// and drills, and two runs side by side. The file opens from disk, and loads
// nothing.
//
// What goes into the page, in this order:
//
//  1. Find says which reports there are.
//  2. A report is read entry by entry. A line of figures of each is kept in the
//     index; the entry and its transcript go into a chunk of a few hundred.
//  3. Index and chunks are compressed and written as base64 into elements that
//     nobody runs. No byte of a report stands in the page in another way, so
//     nothing in a report can end an element, open one, or be a script.
//  4. The script of the page (folder web; page.html is what it builds) shows the
//     index at once, and takes a chunk apart when somebody looks at it. It makes
//     text nodes and never markup, and its policy would refuse markup.
package view

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
)

//go:embed page.html
var page string

// Format names what the page's script reads. The script and this package are one
// file in the end, so it is there for a person who looks.
const Format = "retake.view/1"

const (
	indexMark  = "<!--retake:index-->"
	chunksMark = "<!--retake:chunks-->"
	closed     = "connect-src 'none'"
	open       = "connect-src 'self'"
	servedMark = `<html lang="en"`
)

// Page is a page that has been put together.
type Page struct {
	// Problems are the reports that are not in the page, and why. The page tells
	// them too.
	Problems []error

	index  string
	chunks []string
}

// WriteTo writes the page as a file.
func (p *Page) WriteTo(w io.Writer) (int64, error) { return p.write(w, page) }

// WriteServed writes the page as Server hands it out: it may ask its own server
// whether there is something newer than the version that it is, and does.
func (p *Page) WriteServed(w io.Writer, version int) (int64, error) {
	served := fmt.Sprintf(`%s data-served="%d"`, servedMark, version)
	return p.write(w, strings.Replace(strings.Replace(page, closed, open, 1), servedMark, served, 1))
}

func (p *Page) write(w io.Writer, page string) (int64, error) {
	head, rest, ok := strings.Cut(page, indexMark)
	middle, tail, also := strings.Cut(rest, chunksMark)
	if !ok || !also {
		return 0, failure.Errorf(failure.Internal, "the viewer's page has no place for the reports")
	}
	out := counter{w: w}
	out.add(head, element("index", p.index), middle)
	for i, c := range p.chunks {
		out.add(element(chunkID(i), c), "\n")
	}
	out.add(tail)
	return out.n, out.err
}

// element holds data that is no script and is not shown. Base64 cannot end it.
func element(id, data string) string {
	return `<script type="application/octet-stream" id="` + id + `">` + data + `</script>`
}

// counter writes until something goes wrong.
type counter struct {
	w   io.Writer
	n   int64
	err error
}

func (c *counter) add(texts ...string) {
	for _, t := range texts {
		if c.err != nil {
			return
		}
		n, err := io.WriteString(c.w, t)
		c.n, c.err = c.n+int64(n), err
	}
}
