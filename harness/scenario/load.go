package scenario

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/schema"
	"github.com/retake-harness/retake/harness/tool"
)

// Options are what a scenario draws on besides its files. The zero value is
// ready.
type Options struct {
	Models []string // run where a scenario names none; none: a scenario has to
	Known  []string // models that a scenario may name; nil: any
	Limits Limits   // for what a scenario does not say
	// Servers are MCP servers that a scenario need not declare itself.
	Servers []Server
	Cache   *Cache // keeps tools and schemas from one Load to the next; nil: nothing is kept
}

// Cache keeps what many scenarios share: files of tools, read once by their
// path, and compiled schemas. The zero value is ready; it may be used by many
// goroutines. It does not notice that a file has changed.
type Cache struct {
	Schemas schema.Cache

	mu    sync.Mutex
	tools map[string]*toolEntry
}

type toolEntry struct {
	once sync.Once
	set  *toolset
}

// Config is the name of the configuration's file, which is no scenario.
const Config = "retake.yaml"

const toolsName = "tools.yaml"

// Drills is the name of files that describe drills, which are no scenarios.
const Drills = "drill.yaml"

// Load reads the scenario of the name (travel/umbrella) below dir. Everything
// that is wrong with it is in one error of class scenario_invalid, a line each
// with file, line and column; a file that cannot be read is of class world.
func Load(dir, name string, o Options) (*Scenario, error) {
	if !fs.ValidPath(name) || strings.HasSuffix(name, ".yaml") {
		return nil, failure.Errorf(failure.ScenarioInvalid, "%q is no scenario's name; give its path below %s without .yaml", name, dir)
	}
	where := filepath.Join(dir, filepath.FromSlash(name)+".yaml")
	text, err := file.Read(where)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(dir, name, where)
	case err != nil:
		return nil, failure.Errorf(failure.World, "%s: %w", filepath.ToSlash(where), yamlwalk.Cause(err))
	}
	s, err := Parse(where, text, o)
	if err != nil {
		return nil, err
	}
	s.Name = name
	return s, nil
}

func missing(dir, name, file string) error {
	known, err := List(dir)
	if err != nil {
		known = nil
	}
	return failure.Errorf(failure.ScenarioInvalid, "%s: there is no such scenario%s", file, suggest.Hint(name, known))
}

// Parse reads a scenario's text. file is its path, for messages and for the
// tools beside it; the name stays empty. Errors are Load's.
func Parse(file string, text []byte, o Options) (*Scenario, error) {
	if o.Cache == nil {
		o.Cache = &Cache{}
	}
	s, err := parse(file, text, o, nil)
	if err != nil || len(s.Servers) == 0 {
		return s, err
	}
	s.again = func(found map[string][]tool.Decl) (*Scenario, error) { return parse(file, text, o, found) }
	return s, nil
}

// parse reads a scenario's text; found are the tools that servers have, nil where
// they have not been asked.
func parse(file string, text []byte, o Options, found map[string][]tool.Decl) (*Scenario, error) {
	f := yamlwalk.Parse(filepath.ToSlash(file), text)
	var w written
	yamlwalk.Root(f, specKind, &w)
	if err := f.Err(); err != nil {
		return nil, err
	}
	shared := o.Cache.shared(f, &w, file)
	if shared != nil && shared.err != nil {
		return nil, shared.err
	}
	b := builder{f: f, schemas: &o.Cache.Schemas, found: found, known: o.Known}
	s := b.build(&w, shared, o)
	if err := f.Err(); err != nil {
		return nil, err
	}
	s.File, s.Hash = f.Name, hash(text, shared)
	return s, nil
}

// shared is the file of tools that a scenario draws on, nil when it needs none.
func (c *Cache) shared(f *yamlwalk.File, w *written, file string) *toolset {
	own := w.tools.from != nil || w.tools.items != nil && !slices.ContainsFunc(w.tools.items, func(it item) bool { return it.decl == nil })
	if own && w.toolsFrom.V == "" {
		return nil
	}
	from := w.toolsFrom.V
	if path.IsAbs(from) || filepath.IsAbs(from) {
		f.Failf(w.toolsFrom.At, "tools_from must be relative to the scenario's folder, is %q", from)
		return nil
	}
	name := from
	if name == "" {
		name = toolsName
	}
	set := c.toolset(filepath.Join(filepath.Dir(file), filepath.FromSlash(name)))
	if !set.there && from != "" {
		f.Failf(w.toolsFrom.At, "there is no file %q; the path is relative to the scenario's folder", from)
	}
	return set
}

func (c *Cache) toolset(file string) *toolset {
	c.mu.Lock()
	e := c.tools[file]
	if e == nil {
		e = &toolEntry{}
		if c.tools == nil {
			c.tools = map[string]*toolEntry{}
		}
		c.tools[file] = e
	}
	c.mu.Unlock()
	e.once.Do(func() { e.set = loadTools(file, &c.Schemas) })
	return e.set
}

func loadTools(where string, schemas *schema.Cache) *toolset {
	text, err := file.Read(where)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &toolset{}
	case err != nil:
		return &toolset{there: true, err: failure.Errorf(failure.World, "%s: %w", filepath.ToSlash(where), yamlwalk.Cause(err))}
	}
	return readTools(filepath.ToSlash(where), text, schemas)
}

// hash is the same on a checkout with CRLF.
func hash(text []byte, shared *toolset) string {
	h := sha256.New()
	write := func(text []byte) {
		if bytes.IndexByte(text, '\r') >= 0 {
			text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		}
		h.Write(fmt.Appendf(nil, "%d\n", len(text)))
		h.Write(text)
	}
	write(text)
	if shared != nil && shared.there {
		write(shared.text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// List gives the names of all scenarios below dir, sorted: every .yaml file but
// the configuration, files of tools (tools.yaml) and of drills (drill.yaml), and
// what begins with _ or a dot, file or folder.
func List(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return failure.Errorf(failure.World, "list scenarios: %w", err)
		}
		if p != dir && strings.ContainsRune("_.", rune(d.Name()[0])) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() || d.Name() == toolsName || d.Name() == Drills {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return failure.Errorf(failure.World, "list scenarios: %w", err)
		}
		return list(&names, filepath.ToSlash(rel), p)
	})
	slices.Sort(names)
	return names, err
}

func list(names *[]string, rel, file string) error {
	if strings.HasSuffix(rel, ".yml") {
		return failure.Errorf(failure.ScenarioInvalid, "%s: scenarios end in .yaml; rename it", filepath.ToSlash(file))
	}
	if name, ok := strings.CutSuffix(rel, ".yaml"); ok && rel != Config {
		*names = append(*names, name)
	}
	return nil
}

// Problems are all that is wrong with a file, in its order; the error of Load
// wraps them.
type Problems = yamlwalk.Problems
