package foreign

// rubyVCR reads the http_interactions of Ruby's VCR: bodies with the name of their
// encoding, as text, !binary or base64_string.
func (r *reader) rubyVCR(interactions *node) (*File, error) {
	for _, n := range interactions.items {
		if err := r.recorded(n); err != nil {
			return nil, err
		}
		if at := timeOf(n.get("recorded_at").word()); at != "" && len(r.file.Interactions) > 0 {
			r.recordedAt(at)
		}
	}
	return r.done(RubyVCR)
}
