package cli

import (
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/redact"
)

// hidden are the secrets that no output may show, from the moment at which a
// verb has read the configuration.
type hidden struct{ values *redact.Values }

// output is one of the process's outputs without its secrets.
type output struct {
	w      io.Writer
	hidden *hidden
}

func (o *output) Write(p []byte) (int, error) { return o.hidden.values.Writer(o.w).Write(p) }

// guarded puts a guard before both outputs.
func (sys IO) guarded() IO {
	sys.hidden = &hidden{}
	sys.Stdout, sys.Stderr = &output{sys.Stdout, sys.hidden}, &output{sys.Stderr, sys.hidden}
	return sys
}

// openSuite opens the project; from then on its secrets are hidden.
func openSuite(sys IO, p *project) (*suite.Suite, error) {
	s, err := suite.Open(p.dirs, sys.Getenv)
	if err == nil {
		sys.hidden.values = s.Config.Hidden()
	}
	return s, err
}

// atLeastOne is a flag's value of at least 1.
type atLeastOne int

func (c *atLeastOne) String() string { return strconv.Itoa(int(*c)) }
func (c *atLeastOne) Type() string   { return "int" }
func (c *atLeastOne) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return errors.New("must be a whole number of at least 1")
	}
	*c = atLeastOne(n)
	return nil
}

// pace is how fast recorded time passes where the clock is real; 0: it is counted,
// and not waited for.
type pace float64

func (v *pace) String() string { return "none" }
func (v *pace) Type() string   { return "none|recorded|xN" }
func (v *pace) Set(s string) error {
	switch s {
	case "none":
		*v = 0
		return nil
	case "recorded":
		*v = 1
		return nil
	}
	number, ok := strings.CutPrefix(s, "x")
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(n > 0 && n <= math.MaxInt32) {
		return errors.New("must be none, recorded, or a multiple of the recorded pace, like x10 or x0.5")
	}
	*v = pace(n)
	return nil
}

// seed is a flag's value of 0 or more; 0 is none of its own.
type seed uint64

func (v *seed) String() string { return strconv.FormatUint(uint64(*v), 10) }
func (v *seed) Type() string   { return "number" }
func (v *seed) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return errors.New("must be a whole number from 1 to 18446744073709551615 (0: the scenario's)")
	}
	*v = seed(n)
	return nil
}
