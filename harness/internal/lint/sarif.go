package lint

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// The parts of SARIF 2.1.0 (OASIS) that code hosts read.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitzero"`
		URI     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Short   sarifText    `json:"shortDescription"`
		Full    sarifText    `json:"fullDescription"`
		Help    sarifText    `json:"help"`
		Default sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level Severity `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        Severity           `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitzero"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitzero"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitzero"`
		Logical  []sarifLogical `json:"logicalLocations,omitzero"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// SARIF is the findings for code hosts. Paths are as the findings have them, and
// so relative where those are; a finding in what a server says is at the place
// that declares the server.
func SARIF(found []Finding, version string) ([]byte, error) {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "retake lint", Version: version, URI: "https://github.com/retake-harness/retake", Rules: []sarifRule{}}
	rules := Rules()
	for _, r := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: r.ID, Short: sarifText{r.Finds}, Full: sarifText{r.Finds + ": " + r.Why}, Help: sarifText{r.Mend}, Default: sarifDefault{r.Severity},
		})
	}
	for i := range found {
		f := &found[i]
		at := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == f.Rule })
		run.Results = append(run.Results, f.sarif(at))
	}
	return written(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func (f *Finding) sarif(rule int) sarifResult {
	text := f.Message
	if f.Place.In != "" {
		text = f.Place.In + ": " + text
	}
	r := sarifResult{
		RuleID: f.Rule, RuleIndex: rule, Level: f.Severity, Message: sarifText{text + "; " + f.Mend},
		// The line moves with every edit; what it is about does not.
		Fingerprints: map[string]string{"retake/v1": fmt.Sprintf("%x", sha256.Sum256([]byte(f.Rule+"\n"+f.On+"\n"+f.Place.In+"\n"+f.Message)))[:32]},
	}
	var l sarifLocation
	if f.Place.File != "" {
		l.Physical = &sarifPhysical{sarifArtifact{relative(f.Place.File)}, sarifRegion{max(f.Place.Line, 1), max(f.Place.Column, 1)}}
	}
	if f.Place.In != "" {
		l.Logical = []sarifLogical{{f.Place.In}}
	}
	if l.Physical != nil || l.Logical != nil {
		r.Locations = []sarifLocation{l}
	}
	if f.Excuse != "" {
		kind := "external"
		if f.InSource {
			kind = "inSource"
		}
		r.Suppressions = []sarifSuppression{{kind, f.Excuse}}
	}
	return r
}

// relative spells a path as a relative reference.
func relative(file string) string {
	u := url.URL{Path: strings.TrimPrefix(path.Clean(strings.ReplaceAll(file, `\`, "/")), "/")}
	return strings.TrimPrefix(u.String(), "./")
}
