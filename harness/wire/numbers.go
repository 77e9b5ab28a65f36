package wire

import "slices"

// callNumbers numbers the ids of calls in the order of their first appearance,
// from 1. Most conversations have a few, for which a search beats a map.
type callNumbers struct {
	few  []string
	many map[string]int // all of them, once they are more than few
}

func (c *callNumbers) of(id string) int {
	const few = 16
	if c.many != nil {
		return c.ofMany(id)
	}
	if i := slices.Index(c.few, id); i >= 0 {
		return i + 1
	}
	if len(c.few) < few {
		c.few = append(c.few, id)
		return len(c.few)
	}
	c.many = make(map[string]int, 4*few)
	for i, known := range c.few {
		c.many[known] = i + 1
	}
	return c.ofMany(id)
}

func (c *callNumbers) ofMany(id string) int {
	n, ok := c.many[id]
	if !ok {
		n = len(c.many) + 1
		c.many[id] = n
	}
	return n
}
