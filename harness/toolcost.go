package harness

// priceTools tells what the tools cost: each try that reached its tool has that
// tool's price. A call that reached nothing costs nothing, whatever the tool.
func (r *Result) priceTools(prices map[string]float64) {
	reached := map[int]int{}
	for _, a := range r.Attempts {
		if a.Reached {
			reached[a.Call]++
		}
	}
	sum := new(float64)
	for _, c := range r.Calls {
		price, known := prices[c.Tool]
		n := reached[c.Ordinal]
		if n > 0 && !known {
			sum = nil
			continue
		}
		cost := price * float64(n)
		c.Cost = &cost
		if sum != nil {
			*sum += cost
		}
	}
	r.ToolCost = sum
}
