package lint_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/internal/lint"
)

// report is a finding of each kind of place.
func report() []lint.Finding {
	return []lint.Finding{
		{Rule: "tool/write-key", Severity: lint.Error, Place: lint.Place{File: "scenarios/a b/tools.yaml", Line: 3, Column: 5, In: `tool "x"`}, On: "a b/x", Message: "m", Mend: "d"},
		{Rule: "tool/telemetry", Severity: lint.Warning, Place: lint.Place{In: `server "s", tool "x", /outputSchema`}, On: "s/x", Message: "m", Mend: "d", Excuse: "It is a specimen."},
		{Rule: "scenario/no-rollback", Severity: lint.Warning, Place: lint.Place{File: "scenarios/a.yaml", Line: 1, Column: 1}, On: "a", Message: "m", Mend: "d", Excuse: "So it is.", InSource: true},
		{Rule: "scenario/unreadable", Severity: lint.Error, On: "b", Message: "m", Mend: "d"},
	}
}

// What code hosts want of SARIF 2.1.0: the members that its schema requires, and
// the ones without which they show nothing.
func TestSARIF(t *testing.T) {
	text, err := lint.SARIF(report(), "v1")
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name, Version string
					Rules         []struct {
						ID            string                 `json:"id"`
						Short         struct{ Text string }  `json:"shortDescription"`
						Configuration struct{ Level string } `json:"defaultConfiguration"`
					}
				}
			}
			Results []struct {
				RuleID    string `json:"ruleId"`
				RuleIndex int    `json:"ruleIndex"`
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					Physical *struct {
						Artifact struct{ URI string } `json:"artifactLocation"`
						Region   struct {
							StartLine   int `json:"startLine"`
							StartColumn int `json:"startColumn"`
						}
					} `json:"physicalLocation"`
					Logical []struct {
						Name string `json:"fullyQualifiedName"`
					} `json:"logicalLocations"`
				}
				Fingerprints map[string]string `json:"partialFingerprints"`
				Suppressions []struct{ Kind, Justification string }
			}
		}
	}
	if err := json.Unmarshal(text, &log, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || !strings.HasSuffix(log.Schema, "sarif-2.1.0.json") || len(log.Runs) != 1 {
		t.Fatalf("%s %s, %d runs", log.Version, log.Schema, len(log.Runs))
	}
	run := log.Runs[0]
	if len(run.Tool.Driver.Rules) != len(lint.Rules()) || run.Tool.Driver.Name == "" {
		t.Errorf("%d rules, %d expected", len(run.Tool.Driver.Rules), len(lint.Rules()))
	}
	fingerprints := map[string]bool{}
	var got []string
	for _, r := range run.Results {
		rule := run.Tool.Driver.Rules[r.RuleIndex]
		if rule.ID != r.RuleID || rule.Short.Text == "" || rule.Configuration.Level != "error" && rule.Configuration.Level != "warning" || r.Message.Text == "" {
			t.Errorf("%+v of the rule %+v", r, rule)
		}
		fingerprints[r.Fingerprints["retake/v1"]] = true
		line := r.RuleID + " " + r.Level
		for _, l := range r.Locations {
			if p := l.Physical; p != nil {
				line += " " + p.Artifact.URI
				if p.Region.StartLine < 1 || p.Region.StartColumn < 1 {
					t.Errorf("%s: region %+v", r.RuleID, p.Region)
				}
			}
			for _, logical := range l.Logical {
				line += " in " + logical.Name
			}
		}
		for _, s := range r.Suppressions {
			line += " " + s.Kind + ": " + s.Justification
		}
		got = append(got, line)
	}
	want := []string{
		`tool/write-key error scenarios/a%20b/tools.yaml in tool "x"`,
		`tool/telemetry warning in server "s", tool "x", /outputSchema external: It is a specimen.`,
		`scenario/no-rollback warning scenarios/a.yaml inSource: So it is.`,
		`scenario/unreadable error`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(fingerprints) != len(want) {
		t.Errorf("fingerprints: %v", fingerprints)
	}
}

// Nothing found is an empty list to a code host, which then closes its alerts.
func TestSARIFOfNothing(t *testing.T) {
	text, err := lint.SARIF(nil, "")
	if err != nil || !strings.Contains(string(text), `"results": []`) {
		t.Errorf("%v: %.300s", err, text)
	}
}

func TestDocument(t *testing.T) {
	text, err := lint.Document(report(), []string{"n"})
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Schema                     string
		Errors, Warnings, Accepted int
		Findings                   []struct{ Rule, File, In, On, Accepted string }
		Notes                      []string
	}
	if err := json.Unmarshal(text, &d, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	if d.Schema != "retake.lint/1" || d.Errors != 2 || d.Warnings != 0 || d.Accepted != 2 || len(d.Findings) != 4 || d.Findings[1].Accepted != "It is a specimen." || len(d.Notes) != 1 {
		t.Errorf("%s", text)
	}
}
