package rerecord_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/internal/rerecord"
	"github.com/retake-harness/retake/harness/wire"
)

// course is two turns: a call, and a text; it took the tokens.
func course(change func(*rerecord.Course)) *rerecord.Course {
	c := &rerecord.Course{
		Turns: []rerecord.CourseTurn{
			{Stop: wire.StopToolCalls, Text: "I look.", Calls: []rerecord.CourseCall{{Name: "find", Args: `{"q":"tea","n":2}`}}},
			{Stop: wire.StopDone, Text: "Tea."},
		},
		Usage: wire.Usage{Input: new(int64(90)), Output: new(int64(10))},
	}
	if change != nil {
		change(c)
	}
	return c
}

func kinds(all []rerecord.Finding) []string {
	var out []string
	for _, f := range all {
		out = append(out, string(f.Tier)+" "+f.What)
	}
	return out
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		why    string
		change func(*rerecord.Course)
		want   []string
	}{
		{"the same", nil, nil},
		{"words beside a call are nobody's business", func(c *rerecord.Course) { c.Turns[0].Text = "Let me see." }, nil},
		{"another last text", func(c *rerecord.Course) { c.Turns[1].Text = "Some tea." }, []string{"info text"}},
		{"a little more usage", func(c *rerecord.Course) { *c.Usage.Output = 19 }, nil},
		{"a tenth more usage", func(c *rerecord.Course) { *c.Usage.Output = 20 }, []string{"info usage"}},
		{"half the usage", func(c *rerecord.Course) { *c.Usage.Input = 40 }, []string{"warn usage"}},
		{"a usage that was not reported", func(c *rerecord.Course) { c.Usage = wire.Usage{} }, nil},
		{"other arguments", func(c *rerecord.Course) { c.Turns[0].Calls[0].Args = `{"n":3,"q":"tea"}` }, []string{"warn arguments"}},
		{"another tool", func(c *rerecord.Course) { c.Turns[0].Calls[0].Name = "search" }, []string{"error calls"}},
		{"a call more", func(c *rerecord.Course) { c.Turns[0].Calls = append(c.Turns[0].Calls, c.Turns[0].Calls[0]) }, []string{"error calls"}},
		{"no call, another text", func(c *rerecord.Course) { c.Turns = c.Turns[1:]; c.Turns[0].Text = "No." }, []string{"error calls", "info text"}},
		{"a turn more with the same calls", func(c *rerecord.Course) {
			c.Turns = append(c.Turns[:1:1], rerecord.CourseTurn{Stop: wire.StopPaused}, c.Turns[1])
		}, []string{"warn turns"}},
		{"another end", func(c *rerecord.Course) { c.Turns[1].Stop = wire.StopRefused }, []string{"error stop"}},
		{"nothing at all", func(c *rerecord.Course) { *c = rerecord.Course{} }, []string{"error calls", "error stop"}},
	} {
		got := rerecord.Compare(course(nil), course(tt.change))
		if diff := cmp.Diff(tt.want, kinds(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s%+v", tt.why, diff, got)
		}
	}
}

func TestStale(t *testing.T) {
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	now := rerecord.Now{
		Hashes: harness.Hashes{Prompt: "p", Tools: "t", Scenario: "s"}, Model: "m-1", SDK: "retake v2",
		Expires: 90 * 24 * time.Hour, Time: at,
	}
	fresh := cassette.FileNotes{
		Source: cassette.Recorded, RecordedAt: at.Add(-24 * time.Hour).Format(time.RFC3339), Model: "m-1", SDK: "retake v2",
		Hashes: cassette.Hashes{System: "p", Tools: "t", Scenario: "s"},
	}
	for _, tt := range []struct {
		why    string
		change func(*cassette.FileNotes)
		want   []string
	}{
		{"as it was", func(*cassette.FileNotes) {}, nil},
		{"another prompt, by which the scenario's file is another", func(n *cassette.FileNotes) { n.Hashes.System, n.Hashes.Scenario = "x", "x" }, []string{"error prompt"}},
		{"other tools", func(n *cassette.FileNotes) { n.Hashes.Tools = "x" }, []string{"error tools"}},
		{"the scenario alone", func(n *cassette.FileNotes) { n.Hashes.Scenario = "x" }, []string{"info scenario"}},
		{"another model", func(n *cassette.FileNotes) { n.Model = "m-2" }, []string{"error model"}},
		{"another client", func(n *cassette.FileNotes) { n.SDK = "retake v1" }, []string{"info sdk"}},
		{"on its last day", func(n *cassette.FileNotes) { n.RecordedAt = at.Add(-90 * 24 * time.Hour).Format(time.RFC3339) }, nil},
		{"too old", func(n *cassette.FileNotes) { n.RecordedAt = at.Add(-91 * 24 * time.Hour).Format(time.RFC3339) }, []string{"error age"}},
		{"written by hand, long ago", func(n *cassette.FileNotes) { n.Source, n.RecordedAt = cassette.Scripted, "2001-01-01T00:00:00Z" }, nil},
		{"without notes", func(n *cassette.FileNotes) { *n = cassette.FileNotes{} }, []string{"info notes", "info age"}},
		{"a time that is none", func(n *cassette.FileNotes) { n.RecordedAt = "yesterday" }, []string{"info age"}},
	} {
		notes := fresh
		tt.change(&notes)
		got := rerecord.Stale(&notes, &now)
		if diff := cmp.Diff(tt.want, kinds(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s%+v", tt.why, diff, got)
		}
	}
}
