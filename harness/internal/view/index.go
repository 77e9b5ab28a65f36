package view

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/report"
)

// index is what the page knows without opening a chunk.
type index struct {
	Format   string    `json:"format"`
	Runs     []run     `json:"runs"`
	Matrices []matrix  `json:"matrices"`
	Problems []string  `json:"problems"`
	Strings  []string  `json:"strings"` // what columns point to; the first is ""
	Lists    [][]int32 `json:"lists"`   // lists of strings; the first is empty
}

// run is a report without its entries.
type run struct {
	Where   string        `json:"where"` // the report's folder, as it was found
	Run     report.Run    `json:"run"`   // without the ids of entries
	Totals  report.Totals `json:"totals"`
	Entries columns       `json:"entries"`
	Chunks  []part        `json:"chunks"`
}

// part is a run of entries that are in one chunk, and their ids in another.
type part struct {
	N       int `json:"n"`
	Entries int `json:"entries"`
	Stamps  int `json:"stamps"`
}

// columns are the entries of a run, one value each in every column. What is a
// word is the number of a string, what is several the number of a list.
type columns struct {
	Name    []int32    `json:"name"`
	Model   []int32    `json:"model"`
	Fault   []int32    `json:"fault"`
	Trial   []int32    `json:"trial"`
	Verdict []int32    `json:"verdict"`
	Part    []int32    `json:"part"`
	Owner   []int32    `json:"owner"`
	What    []int32    `json:"what"`    // of the first reason
	Labels  []int32    `json:"labels"`  // list
	Classes []int32    `json:"classes"` // list: of the reasons, the end, and attempts
	Hashes  []int32    `json:"hashes"`  // list: scenario, prompt, tools, cassette
	Text    []int32    `json:"text"`    // equal for equal transcripts; 0 for none
	Calls   []int32    `json:"calls"`   // model calls
	Tools   []int32    `json:"tools"`
	Tokens  []int64    `json:"tokens"`
	Latency []int64    `json:"latency"`
	Cost    []*float64 `json:"cost"` // nil: not known
	Real    []int32    `json:"real"` // 1: the run's clock was real, so that its times differ each time
}

// words gives each string one number, and each list of strings.
type words struct {
	strings []string
	numbers map[string]int32
	lists   [][]int32
	known   map[string]int32
	texts   map[[sha256.Size]byte]int32
}

func newWords() *words {
	return &words{
		strings: []string{""}, numbers: map[string]int32{"": 0}, lists: [][]int32{{}}, known: map[string]int32{"": 0},
		texts: map[[sha256.Size]byte]int32{sha256.Sum256(nil): 0},
	}
}

func (w *words) word(s string) int32 {
	n, ok := w.numbers[s]
	if !ok {
		n = int32(len(w.strings))
		s = strings.Clone(s)
		w.numbers[s], w.strings = n, append(w.strings, s)
	}
	return n
}

func (w *words) list(all ...string) int32 {
	numbers := make([]int32, len(all))
	key := make([]byte, 0, 4*len(all))
	for i, s := range all {
		n := w.word(s)
		numbers[i] = n
		key = append(key, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	n, ok := w.known[string(key)]
	if !ok {
		n = int32(len(w.lists))
		w.known[string(key)], w.lists = n, append(w.lists, numbers)
	}
	return n
}

// text is the number of a transcript: the same for the same text, whatever run it
// is of.
func (w *words) text(s string) int32 {
	sum := sha256.Sum256([]byte(s))
	n, ok := w.texts[sum]
	if !ok {
		n = int32(len(w.texts))
		w.texts[sum] = n
	}
	return n
}

// add takes an entry's line of figures. body is its transcript without the lines
// that name scenario and model, so that two models' can be equal.
func (c *columns) add(w *words, e *report.Entry, body string) {
	what := ""
	if len(e.Reasons) > 0 {
		what = shortened(e.Reasons[0].What)
	}
	c.Name = append(c.Name, w.word(e.Name))
	c.Model = append(c.Model, w.word(e.Model))
	c.Fault = append(c.Fault, w.word(e.Fault))
	c.Trial = append(c.Trial, int32(e.Trial))
	c.Verdict = append(c.Verdict, w.word(e.Verdict))
	c.Part = append(c.Part, w.word(e.Part))
	c.Owner = append(c.Owner, w.word(e.Owner))
	c.What = append(c.What, w.word(what))
	c.Labels = append(c.Labels, w.list(e.Labels...))
	c.Classes = append(c.Classes, w.list(classes(e)...))
	c.Hashes = append(c.Hashes, w.list(e.Hashes.Scenario, e.Hashes.Prompt, e.Hashes.Tools, e.Hashes.Cassette))
	c.Text = append(c.Text, w.text(body))
	c.Calls = append(c.Calls, int32(len(e.Models)))
	c.Tools = append(c.Tools, int32(len(e.Tools)))
	c.Tokens = append(c.Tokens, e.Figures.Tokens.Total)
	c.Latency = append(c.Latency, e.Figures.Latency)
	c.Cost = append(c.Cost, e.Figures.Cost)
	c.Real = append(c.Real, number(e.Clock == "real"))
}

func number(is bool) int32 {
	if is {
		return 1
	}
	return 0
}

// shortened is the beginning of a text, for a line in a list.
func shortened(s string) string {
	const most = 240
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// classes are what went wrong in a run, also where the run got over it.
func classes(e *report.Entry) []string {
	var out []string
	for _, r := range e.Reasons {
		out = append(out, r.Class)
	}
	if e.Outcome.Class != "completed" {
		out = append(out, e.Outcome.Class)
	}
	for i := range e.Models {
		out = append(out, e.Models[i].Class)
	}
	for i := range e.Tools {
		out = append(out, e.Tools[i].Class)
		for _, a := range e.Tools[i].Attempts {
			out = append(out, a.Class)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// body is a transcript without its first two lines, which name scenario and model.
func body(text string) string {
	for _, kind := range []string{"scenario ", "model "} {
		if line, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(line, kind) {
			text = rest
		}
	}
	return text
}
