package github_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/github"
)

func TestAnnotate(t *testing.T) {
	root := t.TempDir()
	for _, tc := range []struct {
		why  string
		a    github.Annotation
		want string
	}{
		{"a place", github.Annotation{File: filepath.Join(root, "scenarios", "x.yaml"), Line: 3, Column: 7, Title: "x [m]", Message: "wrong"}, "::error file=scenarios/x.yaml,line=3,col=7,title=x [m]::wrong"},
		{"no line", github.Annotation{File: filepath.Join(root, "x.yaml"), Column: 7, Message: "wrong"}, "::error file=x.yaml::wrong"},
		{"a file outside", github.Annotation{File: "/elsewhere/x.yaml", Line: 1, Message: "wrong"}, "::error file=/elsewhere/x.yaml,line=1::wrong"},
		{"no file", github.Annotation{Line: 3, Title: "t", Message: "wrong"}, "::error title=t::wrong"},
		{
			"text that would be more than a message",
			github.Annotation{Title: "a,b:c%\n::x", Message: "100%\r\n::add-mask::x, y"},
			"::error title=a%2Cb%3Ac%25%0A%3A%3Ax::100%25%0D%0A::add-mask::x, y",
		},
	} {
		var out bytes.Buffer
		github.Annotate(&out, root, []github.Annotation{tc.a})
		if diff := cmp.Diff(tc.want+"\n", out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

// GitHub shows ten errors of a step; what is beyond is counted. A long message is
// cut where no letter is.
func TestAnnotateMany(t *testing.T) {
	var all []github.Annotation
	for i := range 13 {
		all = append(all, github.Annotation{Message: fmt.Sprint(i) + strings.Repeat("é", 5000)})
	}
	var out bytes.Buffer
	github.Annotate(&out, "", all)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 11 || lines[10] != "::notice title=retake::3 more did not pass; the summary of this step and the report tell them" {
		t.Errorf("%d lines, the last is %.200q", len(lines), lines[len(lines)-1])
	}
	if len(lines[0]) > 4100 || !strings.HasSuffix(lines[0], "é…") {
		t.Errorf("%d bytes, the end is %q", len(lines[0]), lines[0][len(lines[0])-10:])
	}
}

func TestGuard(t *testing.T) {
	var out bytes.Buffer
	g := github.Begin(&out, "tok")
	g.End()
	g.End()
	(*github.Guard)(nil).End()
	if out.String() != "::stop-commands::tok\n::tok::\n" {
		t.Errorf("%q", out.String())
	}
}

func TestSummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary")
	for _, text := range []string{"one", "two"} {
		if err := github.AppendSummary(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != "one\ntwo\n" {
		t.Errorf("%q, %v", got, err)
	}
	if err := github.AppendSummary("", nil); err != nil {
		t.Error(err)
	}
	if err := github.AppendSummary(t.TempDir(), nil); failure.Of(err) != failure.World || !strings.Contains(err.Error(), "--github=false") {
		t.Error(err)
	}
}
