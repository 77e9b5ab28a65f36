package suite

import "github.com/retake-harness/retake/harness/failure"

// Running are those of the names of which something is run; a scenario that cannot
// be loaded is one of them, since that has to be told. All are loaded for it.
func (s *Suite) Running(names []string, o Options) ([]string, error) {
	if _, err := specsOf(o.Faults); err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		if s.runs(name, o) {
			out = append(out, name)
		}
	}
	if err := s.CheckNames(o); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, NothingToRun(o)
	}
	return out, nil
}

func (s *Suite) runs(name string, o Options) bool {
	sc, err := s.Load(name)
	if err != nil {
		return true
	}
	if len(modelsOf(sc, o)) == 0 {
		return false
	}
	all, err := coursesOf(sc, o)
	return err != nil || len(all) > 0
}

// NothingToRun is the error of a selection that leaves nothing.
func NothingToRun(o Options) error {
	return failure.Errorf(failure.ScenarioInvalid,
		"no scenario has all that is asked for: the model %q, the label %q, the fault %q", o.Models, o.Labels, Spelled(o.Faults))
}
