// Package shard runs a part of the scenarios on each of several machines: it
// deals the scenarios out, so that every machine comes to the same split by
// itself, and joins the reports of the parts into the one that a single run would
// have written.
package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/report"
)

// Choice says which part of a run this machine has. The zero value is the whole
// run.
type Choice struct {
	Index, Of int    // from 1
	From      string // what said so, for people: a flag, or variables of the environment
}

// Whole tells whether all scenarios are run here.
func (c Choice) Whole() bool { return c.Of <= 1 }

// The variables by which machines of one job are told apart. GitLab counts from 1
// and says the total; an indexed Job of Kubernetes counts from 0 and does not, so
// that its specification has to set the total beside its completions.
const (
	nodeIndex, nodeTotal = "CI_NODE_INDEX", "CI_NODE_TOTAL"
	jobIndex, jobTotal   = "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"
)

// Choose finds out which part is asked for: by the flag, like 2/4, or where it is
// "" by the environment. doubt is what to tell a person where the environment says
// half of it. An error is of class scenario_invalid.
func Choose(flag string, getenv func(string) string) (c Choice, doubt string, err error) {
	switch {
	case flag != "":
		index, of, ok := strings.Cut(flag, "/")
		if !ok {
			return Choice{}, "", failure.Errorf(failure.ScenarioInvalid, "--shard %s: write which part of how many, as in --shard 2/4", flag)
		}
		c, err = choice(index, of, 1, "--shard")
	case getenv(nodeTotal) != "" && getenv(nodeIndex) != "":
		c, err = choice(getenv(nodeIndex), getenv(nodeTotal), 1, nodeIndex+" and "+nodeTotal)
	case getenv(jobIndex) != "" && getenv(jobTotal) != "":
		c, err = choice(getenv(jobIndex), getenv(jobTotal), 0, jobIndex+" and "+jobTotal)
	case getenv(jobIndex) != "":
		doubt = fmt.Sprintf("%s is set and %s is not, so all scenarios are run here; to split them, set %s to the Job's completions", jobIndex, jobTotal, jobTotal)
	}
	return c, doubt, err
}

// choice reads the two numbers; the first one is counted from first.
func choice(index, of string, first int, from string) (Choice, error) {
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	i += 1 - first
	if err1 != nil || err2 != nil || n < 1 || i < 1 || i > n {
		return Choice{}, failure.Errorf(failure.ScenarioInvalid, "%s: %q of %q is no part of a run: the parts are counted from %d; name one with --shard 1/4, or all with --shard 1/1",
			from, index, of, first)
	}
	return Choice{Index: i, Of: n, From: from}, nil
}

// Split deals names, which are sorted, out to n parts, so that each takes about as
// long: the slowest first, each to the part that has least. times are what they
// took before, in any unit; one that is not known counts as the average. Equal
// arguments give the same split. Parts are empty only where there are more parts
// than names.
func Split(names []string, times map[string]int64, n int) [][]string {
	average := averageOf(names, times)
	took := func(name string) int64 {
		if t, ok := times[name]; ok {
			return max(t, 1)
		}
		return average
	}
	order := slices.Clone(names)
	slices.SortStableFunc(order, func(a, b string) int {
		switch x, y := took(a), took(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return strings.Compare(a, b)
	})
	parts, loads := make([][]string, n), make([]int64, n)
	for _, name := range order {
		least := 0
		for i := range loads {
			if loads[i] < loads[least] {
				least = i
			}
		}
		parts[least] = append(parts[least], name)
		loads[least] += took(name)
	}
	for i := range parts {
		slices.Sort(parts[i])
	}
	return parts
}

func averageOf(names []string, times map[string]int64) int64 {
	var sum, n int64
	for _, name := range names {
		if t, ok := times[name]; ok {
			sum, n = sum+max(t, 1), n+1
		}
	}
	return max(sum/max(n, 1), 1)
}

// Part is this machine's part of the names, and what its report says of it.
func (c Choice) Part(names []string, times map[string]int64) ([]string, *report.Shard) {
	parts := Split(names, times, c.Of)
	return parts[c.Index-1], &report.Shard{Index: c.Index, Of: c.Of, Plan: plan(parts)}
}

// plan is the hash of a whole split.
func plan(parts [][]string) string {
	h := sha256.New()
	for i, part := range parts {
		for _, name := range part {
			_, _ = fmt.Fprintf(h, "%d %q\n", i, name) // a hash takes all
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
