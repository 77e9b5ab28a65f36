package report

import "github.com/retake-harness/retake/harness"

func judgesOf(judged []harness.Judged) []Judge {
	var out []Judge
	for i := range judged {
		j := &judged[i]
		out = append(out, Judge{
			Question: j.Question, Model: j.Model, About: string(j.About), Answer: j.Answer, Accepted: j.Accepted,
			Tokens: tokensOf(j.Tokens), Cost: round(j.Cost),
		})
	}
	return out
}

// judgeSums are what is added up of judges.
type judgeSums struct {
	JudgeTotals
	cost   int64 // in units of a cost
	priced int
}

func (s *judgeSums) add(judges []Judge) {
	for i := range judges {
		j := &judges[i]
		s.Answers++
		if j.Accepted {
			s.Accepted++
		}
		if j.Answer == "" {
			s.None++
		}
		s.Tokens.add(&j.Tokens)
		if j.Cost == nil {
			s.Unpriced++
			continue
		}
		s.cost += inUnits(*j.Cost)
		s.priced++
	}
}

func (s *judgeSums) merge(o *judgeSums) {
	s.Answers, s.Accepted, s.None, s.Unpriced = s.Answers+o.Answers, s.Accepted+o.Accepted, s.None+o.None, s.Unpriced+o.Unpriced
	s.cost, s.priced = s.cost+o.cost, s.priced+o.priced
	s.Tokens.add(&o.Tokens)
}

// finished are the totals; nil where no judge was asked.
func (s *judgeSums) finished() *JudgeTotals {
	if s.Answers == 0 {
		return nil
	}
	t := s.JudgeTotals
	if s.priced > 0 {
		t.Cost = dollars(s.cost)
	}
	return &t
}
