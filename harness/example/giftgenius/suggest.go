package giftgenius

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

type suggestArgs struct {
	Age          int      `json:"age"`
	Relationship string   `json:"relationship_type"`
	BudgetMin    float64  `json:"budget_min"`
	BudgetMax    *float64 `json:"budget_max"`
}

// cents are the limits of the price; without an upper one the highest is no limit.
func (a suggestArgs) cents() (least, most int) {
	most = math.MaxInt32
	if a.BudgetMax != nil {
		most = int(math.Floor(*a.BudgetMax*100 + 1e-6))
	}
	return int(math.Ceil(a.BudgetMin*100 - 1e-6)), most
}

type gift struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	PriceCents  int    `json:"price_cents"`
	Currency    string `json:"currency"`
}

type suggestions struct {
	OK     bool   `json:"ok"`
	Gifts  []gift `json:"gifts"`
	Reason string `json:"noResultsReason,omitempty"`
}

const currency = "EUR"

func (s *Shop) suggest(ctx context.Context, tenant string, a suggestArgs) (suggestions, error) {
	if a.BudgetMax != nil && a.BudgetMin > *a.BudgetMax {
		return suggestions{}, refusal(CodeValidation, "budget_min is %v, above budget_max, which is %v", a.BudgetMin, *a.BudgetMax)
	}
	if !s.meter.count(tenant, s.now()) {
		return suggestions{}, refusal(CodeDailyLimit, "the limit of %d suggestions a day is reached; no more today", s.meter.limit)
	}
	out := suggestions{OK: true, Gifts: []gift{}}
	least, most := a.cents()
	rows, err := s.store.db.QueryContext(ctx, `select id, name, description, price_cents from gifts
		where discontinued = 0 and instr(for_whom, ',' || ? || ',') > 0 and ? between min_age and max_age and price_cents between ? and ?
		order by price_cents, id`, a.Relationship, a.Age, least, most)
	if err != nil {
		return suggestions{}, err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	for rows.Next() {
		g := gift{Currency: currency}
		if err := rows.Scan(&g.ID, &g.Name, &g.Description, &g.PriceCents); err != nil {
			return suggestions{}, err
		}
		out.Gifts = append(out.Gifts, g)
	}
	if len(out.Gifts) == 0 {
		out.Reason = fmt.Sprintf("There is no gift for a %s of %d years within this budget. Another budget may help.", a.Relationship, a.Age)
	}
	return out, rows.Err()
}

// meter counts suggestions by tenant and day. It lives in memory: it is the
// server's own bookkeeping, nothing that a reading tool would have changed.
type meter struct {
	limit int
	mu    sync.Mutex
	day   string
	used  map[string]int
}

// count counts one more, unless the day's limit is reached.
func (m *meter) count(tenant string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if today := now.UTC().Format(time.DateOnly); m.day != today {
		m.day, m.used = today, map[string]int{}
	}
	if m.used[tenant] >= m.limit {
		return false
	}
	m.used[tenant]++
	return true
}
