package drill

// Schema names the format of a Report in JSON. Members are only added within one
// number.
const Schema = "retake.drill/1"

// State is what came of a row.
type State string

// The states.
const (
	Held          State = "held"
	Breached      State = "breached"
	Warning       State = "warning" // as declared, and a hazard
	NotApplicable State = "not applicable"
	NotRun        State = "not run" // interrupted
)

// Report is what came of a drill.
type Report struct {
	Schema string `json:"schema"`
	Drill  string `json:"drill"`
	Tool   string `json:"tool"`
	Rows   []Row  `json:"rows"`
	Totals Totals `json:"totals"`
}

// Row is an invariant, or one form of it.
type Row struct {
	ID    string `json:"id"`
	Form  string `json:"form,omitzero"`
	Title string `json:"title"`
	Why   string `json:"why"` // the invariant is there at all
	State State  `json:"state"`
	// What says what was seen, of a breach and of a warning, or why the row does not
	// apply; Do what to do about it.
	What  string   `json:"what,omitzero"`
	Do    string   `json:"do,omitzero"`
	Notes []string `json:"notes,omitzero"` // what was left out
	// Steps are what was done, in order.
	Steps []Step `json:"steps,omitzero"`
}

// Name is the row's id with its form.
func (r *Row) Name() string {
	if r.Form == "" {
		return r.ID
	}
	return r.ID + " " + r.Form
}

// Step is one thing that was done to the target, and what came back. Keys are
// shown as key-1, key-2.
type Step struct {
	Do     string `json:"do"` // a call, or in words
	By     string `json:"by,omitzero"`
	Answer string `json:"answer,omitzero"`
	// Before and After are the number of effects around the step, counted by the
	// probe; nil: not counted.
	Before *int `json:"before,omitzero"`
	After  *int `json:"after,omitzero"`
}

// Totals count rows.
type Totals struct {
	Held          int `json:"held"`
	Breached      int `json:"breached"`
	Warnings      int `json:"warnings"`
	NotApplicable int `json:"not_applicable"`
	NotRun        int `json:"not_run"`
}

func (t *Totals) add(s State) {
	switch s {
	case Held:
		t.Held++
	case Breached:
		t.Breached++
	case Warning:
		t.Warnings++
	case NotApplicable:
		t.NotApplicable++
	case NotRun:
		t.NotRun++
	}
}

// Applied is how many rows could be judged.
func (t *Totals) Applied() int { return t.Held + t.Breached + t.Warnings }

// Of are the rows in a state.
func (r *Report) Of(s State) []Row {
	var out []Row
	for _, row := range r.Rows {
		if row.State == s {
			out = append(out, row)
		}
	}
	return out
}

// States are the rows' states by their names.
func (r *Report) States() map[string]State {
	out := make(map[string]State, len(r.Rows))
	for i := range r.Rows {
		out[r.Rows[i].Name()] = r.Rows[i].State
	}
	return out
}
