package scenario_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

const whenRecording = `why: w
owner: o
task: t
model: m
expires: 30d
servers:
  shop: {command: [shop]}
  search: {command: [search], env: [KEY]}
tools:
  - {name: price, run: {mcp: shop}}
  - {name: find, description: Finds., input: {type: object}, run: {mcp: search, when: recording}}
  - {name: pay, run: {command: [pay], when: always}}
  - {name: note, run: {command: [note], when: recording}}
`

// What runs while a scenario is recorded alone is no part of the scenario
// otherwise: no server is started for it, and no clock is real because of it.
func TestWhenRecording(t *testing.T) {
	s, err := scenario.Parse("s.yaml", []byte(whenRecording), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Expires != 30*24*time.Hour {
		t.Errorf("expires after %v", s.Expires)
	}
	check := func(why string, s *scenario.Scenario, servers, runs, env string) {
		t.Helper()
		var gotServers, gotRuns []string
		for _, server := range s.Servers {
			gotServers = append(gotServers, server.Name)
		}
		for _, d := range s.Tools {
			if s.Runs[d.Name].Real() {
				gotRuns = append(gotRuns, d.Name)
			}
		}
		got := []string{strings.Join(gotServers, " "), strings.Join(gotRuns, " "), strings.Join(s.FromEnv(), " ")}
		if diff := cmp.Diff([]string{servers, runs, env}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", why, diff)
		}
	}
	check("replayed", s, "shop", "price pay", "")
	live := s.WhenRecording()
	check("recorded", live, "shop search", "price find pay note", "KEY")
	found := map[string][]tool.Decl{"shop": {{Name: "price", Description: "The price."}}, "search": {{Name: "find", Description: "Another text."}}}
	full, err := live.WithServerTools(found)
	if err != nil {
		t.Fatal(err)
	}
	check("recorded, with the servers asked", full, "shop search", "price find pay note", "KEY")
	if full.Tools[0].Description != "The price." || full.Tools[1].Description != "Finds." {
		t.Errorf("the server of a tool that runs while recording alone says what it is: %+v", full.Tools[:2])
	}
	check("the scenario itself is not changed", s, "shop", "price pay", "")
}

func TestWhenOfACassette(t *testing.T) {
	_, err := scenario.Parse("s.yaml", []byte("why: w\nowner: o\ntask: t\nmodel: m\ntools:\n  - {name: a, run: {cassette: true, when: recording}}\n  - {name: b, run: {command: [b], when: replaying}}\n  - {name: c, run: {mcp: nowhere, when: recording}}\n"), scenario.Options{})
	for _, want := range []string{
		`s.yaml:6:43: the cassette answers always; drop when`,
		`s.yaml:7:41: must be one of always, recording, is "replaying"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	_, err = scenario.Parse("s.yaml", []byte("why: w\nowner: o\ntask: t\nmodel: m\ntools:\n  - {name: c, run: {mcp: nowhere, when: recording}}\n"), scenario.Options{})
	if want := `s.yaml:6:26: unknown MCP server "nowhere"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not say %q", err, want)
	}
}
