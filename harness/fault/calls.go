package fault

// Calls is how many model calls there were so far, the one that is being answered
// included.
func (i *Injector) Calls() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.calls
}
