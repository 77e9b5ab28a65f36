package compare

import (
	"fmt"
	"strings"

	"github.com/retake-harness/retake/harness/transcript"
)

// mostMarkdown is less than what a comment on GitHub may have, 65,536 characters.
const mostMarkdown = 59_000

// AppendMarkdown appends the comparison as a page that begins with the verdict and
// fits into a comment on a pull request. Nothing in it is markup, a mention or a
// link but what is retake's own.
func (c *Comparison) AppendMarkdown(dst []byte) []byte {
	var b, tail strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", strings.ToUpper(string(c.Verdict)))
	for _, r := range c.Reasons {
		fmt.Fprintf(&b, "- %s\n", plain(r))
	}
	for _, w := range c.Warnings[:min(len(c.Warnings), 20)] {
		fmt.Fprintf(&b, "\n> **warning:** %s\n", plain(w))
	}
	fmt.Fprintf(&b, "\n| | report | model | passed | not judged | pass rate |\n|---|---|---|--:|--:|--:|\n%s%s\n%s\n", c.Old.row("old"), c.New.row("new"), plain(c.Data.line()))
	b.WriteString("\n## What changed\n\n")
	for _, ch := range c.Changed {
		fmt.Fprintf(&b, "- %s\n", plain(strings.Join(strings.Fields(ch.line()), " ")))
	}
	if len(c.Changed) == 0 {
		b.WriteString("Nothing.\n")
	}
	c.answersMarkdown(&b)
	c.figuresMarkdown(&tail)
	c.scenariosMarkdown(&b, mostMarkdown-b.Len()-tail.Len())
	b.WriteString(tail.String())
	return append(dst, b.String()...)
}

func (s *Subject) row(name string) string {
	rate := "exact"
	if s.Rate != nil {
		rate = short(*s.Rate)
		if s.SE != nil {
			rate += " ± " + short(*s.SE)
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %d of %d | %d | %s |\n", name, code(s.Report), code(strings.Join(s.Models, ", ")), s.Passed, s.Runs, s.Excluded, rate)
}

func (c *Comparison) answersMarkdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## Questions\n\nRubric %s, hash `%.12s`, in force when the old report was made: %s, the new: %s.\n\n| question | answer | why it is asked | |\n|---|---|---|---|\n",
		code(c.Rubric.Name), c.Rubric.Hash, answerInForce(c.Rubric.Old), answerInForce(c.Rubric.New))
	for i := range c.Answers {
		a := &c.Answers[i]
		state := string(a.State)
		if a.State == Breached {
			state = "**breached** → " + string(a.Breach)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", a.ID, state, cell(a.Reason), cell(a.Text))
	}
}

func answerInForce(state string) string {
	switch state {
	case "same":
		return "yes"
	case "changed":
		return "**no**"
	default:
		return "not known"
	}
}

// scenariosMarkdown shows as many as there is room for.
func (c *Comparison) scenariosMarkdown(b *strings.Builder, room int) {
	if len(c.Scenario) == 0 {
		return
	}
	b.WriteString("\n## Scenarios that changed\n")
	room -= 200
	shown := 0
	for i := range c.Scenario {
		var one strings.Builder
		c.Scenario[i].markdown(&one)
		if room -= one.Len(); room < 0 {
			break
		}
		b.WriteString(one.String())
		shown++
	}
	if more := len(c.Scenario) + c.More - shown; more > 0 {
		fmt.Fprintf(b, "\nAnd %s more.\n", number(more, "scenario"))
	}
}

func (s *Scenario) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s%s\n\n", code(s.Title), s.kind())
	for _, w := range s.What {
		fmt.Fprintf(b, "- %s\n", plain(w))
	}
	if s.SideBySide == nil {
		return
	}
	var text strings.Builder
	s.SideBySide.write(&text, "")
	fence := "```"
	for strings.Contains(text.String(), fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "\n%stext\n%s%s\n", fence, text.String(), fence)
}

func (c *Comparison) figuresMarkdown(b *strings.Builder) {
	b.WriteString("\n## Figures of all runs\n\n| | old | new | ratio |\n|---|--:|--:|--:|\n")
	for f := range c.Figures {
		fig := &c.Figures[f]
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", fig.Name, fig.side(figure(f), fig.Old, fig.OldUnknown), fig.side(figure(f), fig.New, fig.NewUnknown), fig.ratio())
	}
	if len(c.Classes) == 0 {
		return
	}
	b.WriteString("\n| class of what did not pass | old | new |\n|---|--:|--:|\n")
	for i, class := range c.Classes {
		if i == 60 {
			fmt.Fprintf(b, "| and %d more | | |\n", len(c.Classes)-i)
			break
		}
		fmt.Fprintf(b, "| %s | %d | %d |\n", code(class.Class), class.Old, class.New)
	}
}

// mostProse is how much of a text is shown.
const mostProse = 1000

// markup are the characters that could be markup, a mention or a link.
var markup = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "|", `\|`, "~", `\~`, "!", `\!`,
	"@", "@\u2060", "://", ":\u2060//", "www.", "www\u2060.", "$", `\$`,
)

// plain shows text as it is, wherever it stands.
func plain(text string) string { return markup.Replace(transcript.Safe(cut(text, mostProse))) }

// cell is plain for a table.
func cell(text string) string { return plain(text) }

var inCode = strings.NewReplacer("`", "'", "|", "¦")

// code shows a name as it is, wherever it stands.
func code(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(none)"
	}
	return "`" + inCode.Replace(transcript.Safe(cut(text, 200))) + "`"
}
