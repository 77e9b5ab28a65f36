package shard_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/shard"
)

func TestChoose(t *testing.T) {
	for _, tc := range []struct {
		why, flag, env string // env as NAME=value NAME=value
		want           shard.Choice
		doubt, err     string
	}{
		{why: "nobody says anything"},
		{why: "the flag", flag: "2/4", want: shard.Choice{Index: 2, Of: 4, From: "--shard"}},
		{why: "the flag wins", flag: "1/1", env: "CI_NODE_INDEX=2 CI_NODE_TOTAL=4", want: shard.Choice{Index: 1, Of: 1, From: "--shard"}},
		{why: "GitLab counts from 1", env: "CI_NODE_INDEX=4 CI_NODE_TOTAL=4", want: shard.Choice{Index: 4, Of: 4, From: "CI_NODE_INDEX and CI_NODE_TOTAL"}},
		{why: "a total alone is a job that is not split", env: "CI_NODE_TOTAL=1"},
		{why: "Kubernetes counts from 0", env: "JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=3", want: shard.Choice{Index: 1, Of: 3, From: "JOB_COMPLETION_INDEX and JOB_COMPLETIONS"}},
		{why: "Kubernetes says no total", env: "JOB_COMPLETION_INDEX=0", doubt: "JOB_COMPLETIONS is not"},
		{why: "no slash", flag: "2", err: "as in --shard 2/4"},
		{why: "no number", flag: "a/4", err: `"a" of "4" is no part`},
		{why: "counted from 0", flag: "0/4", err: "counted from 1"},
		{why: "too many", flag: "5/4", err: "is no part of a run"},
		{why: "of nothing", flag: "1/0", err: "is no part of a run"},
		{why: "another counting in the environment", env: "CI_NODE_INDEX=0 CI_NODE_TOTAL=4", err: "CI_NODE_INDEX and CI_NODE_TOTAL: "},
		{why: "more than there are in the Job", env: "JOB_COMPLETION_INDEX=3 JOB_COMPLETIONS=3", err: "counted from 0"},
	} {
		got, doubt, err := shard.Choose(tc.flag, func(name string) string {
			for set := range strings.FieldsSeq(tc.env) {
				if value, ok := strings.CutPrefix(set, name+"="); ok {
					return value
				}
			}
			return ""
		})
		if tc.err != "" {
			if failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v", tc.why, err)
			}
			continue
		}
		if err != nil || got != tc.want || (doubt == "") != (tc.doubt == "") || !strings.Contains(doubt, tc.doubt) {
			t.Errorf("%s: %+v, %q, %v", tc.why, got, doubt, err)
		}
	}
}

func TestSplit(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	for _, tc := range []struct {
		why   string
		times map[string]int64
		n     int
		want  [][]string
	}{
		{"without times by number", nil, 2, [][]string{{"a", "c", "e"}, {"b", "d"}}},
		{"the slow one alone", map[string]int64{"a": 10, "b": 100, "c": 20, "d": 30, "e": 40}, 2, [][]string{{"b"}, {"a", "c", "d", "e"}}},
		{"what is not known counts as the average", map[string]int64{"a": 10, "b": 30}, 2, [][]string{{"b", "e"}, {"a", "c", "d"}}},
		{"times of nothing that is asked for", map[string]int64{"x": 1000}, 2, [][]string{{"a", "c", "e"}, {"b", "d"}}},
		{"no time at all leaves no part empty", map[string]int64{"a": 0, "b": 0, "c": 0, "d": 0, "e": 0}, 5, [][]string{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}},
		{"more parts than names", nil, 7, [][]string{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, nil, nil}},
	} {
		if diff := cmp.Diff(tc.want, shard.Split(names, tc.times, tc.n)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

// Each name is in one part, parts are empty only where they must be, none takes
// longer than the average and the longest name together, and the same is split the
// same way.
func TestSplitLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 0, 40, rapid.ID).Draw(t, "names")
		slices.Sort(names)
		times := map[string]int64{}
		for _, name := range names {
			if rapid.Bool().Draw(t, "known") {
				times[name] = rapid.Int64Range(0, 1e9).Draw(t, "time")
			}
		}
		n := rapid.IntRange(1, 12).Draw(t, "n")
		parts := shard.Split(names, times, n)
		all := slices.Concat(parts...)
		slices.Sort(all)
		if len(parts) != n || !slices.Equal(all, names) {
			t.Fatalf("%q of %q", all, names)
		}
		empty := 0
		for _, part := range parts {
			if len(part) == 0 {
				empty++
			}
			if !slices.IsSorted(part) {
				t.Fatalf("%q", part)
			}
		}
		if want := max(n-len(names), 0); empty != want {
			t.Fatalf("%d empty parts of %d, %d names", empty, n, len(names))
		}
		if diff := cmp.Diff(parts, shard.Split(names, times, n)); diff != "" {
			t.Fatal(diff)
		}
		if len(times) == len(names) && len(names) > 0 {
			balanced(t, parts, times)
		}
	})
}

func balanced(t *rapid.T, parts [][]string, times map[string]int64) {
	var sum, longest, most int64
	for _, part := range parts {
		var load int64
		for _, name := range part {
			load += max(times[name], 1)
			longest = max(longest, max(times[name], 1))
		}
		sum, most = sum+load, max(most, load)
	}
	if most > sum/int64(len(parts))+longest+1 {
		t.Fatalf("the slowest part takes %d of %d, with %d parts", most, sum, len(parts))
	}
}
