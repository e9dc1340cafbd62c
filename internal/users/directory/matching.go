package directory

import (
	"strings"

	"github.com/iris-oncall/iris/internal/users"
)

const nameTaken = "the log-in name belongs to another person in Iris: rename one of them"

// matching finds the person of an entry: first by the stable id, then by name. So a person who was renamed in the
// directory stays the same person in Iris, and gets the new name if it is free.
type matching struct {
	source  string
	entries []Entry // with trimmed names, and without ids that are not unique
	stable  map[string]Known
	named   map[string]Known
	present map[string]bool // ids that the directory has
	// refused are people whose new name belongs to another person.
	refused map[users.ID]bool
	order   map[users.ID]int // position in which a person is renamed
}

func newMatching(source string, here []Known, entries []Entry, p *Plan) *matching {
	m := &matching{source: source, stable: map[string]Known{}, named: map[string]Known{}, present: map[string]bool{},
		refused: map[users.ID]bool{},
		order:   map[users.ID]int{}}
	for _, k := range here {
		m.named[fold(k.Name)] = k
		if k.Source == source && k.Stable != "" {
			m.stable[k.Stable] = k
		}
	}
	times := map[string]int{}
	for _, e := range entries {
		times[e.Stable]++
	}
	for _, e := range entries {
		e.Name = strings.TrimSpace(e.Name)
		if e.Stable != "" && times[e.Stable] > 1 {
			p.problem(e.Name, "several entries have the same id, so the id is ignored")
			e.Stable = ""
		}
		m.present[e.Stable] = true
		m.entries = append(m.entries, e)
	}
	m.rename(p)
	return m
}

// find returns the person of an entry.
func (m *matching) find(e Entry) (Known, bool) {
	if k, ok := m.stable[e.Stable]; ok && e.Stable != "" {
		return k, true
	}
	k, ok := m.named[fold(e.Name)]
	if ok && k.Source == m.source && k.Stable != "" && m.present[k.Stable] {
		return Known{}, false // that person has another entry
	}
	return k, ok
}

// hadOtherEntry reports whether the person had an entry with another id until now.
func hadOtherEntry(source string, k Known, e Entry) bool {
	return k.Source == source && k.Stable != "" && e.Stable != "" && k.Stable != e.Stable
}

// name returns the log-in name that the person of an entry gets.
func (m *matching) name(e Entry, k Known, known bool) string {
	if known && (m.refused[k.ID] || CheckName(e.Name) != nil && m.stable[e.Stable].ID == k.ID) {
		return k.Name
	}
	return e.Name
}

// rename finds an order of renames in which each new name is free. People who would exchange names in a circle keep
// their names. So do people whose new name belongs to a person who keeps it.
func (m *matching) rename(p *Plan) {
	type renaming struct {
		k  Known
		to string
	}
	var left []renaming
	wanted := map[string]bool{} // names of earlier entries
	for _, e := range m.entries {
		k, ok := m.find(e)
		to := fold(e.Name)
		first := !wanted[to]
		wanted[to] = true
		switch {
		case !ok || to == fold(k.Name) || CheckName(e.Name) != nil:
		case first:
			left = append(left, renaming{k, e.Name})
		default:
			m.refused[k.ID] = true
			p.problem(e.Name, nameTaken)
		}
	}
	taken := map[string]bool{}
	for name := range m.named {
		taken[name] = true
	}
	for progress := true; progress; {
		progress = false
		rest := left
		left = nil
		for _, r := range rest {
			if taken[fold(r.to)] {
				left = append(left, r)
				continue
			}
			delete(taken, fold(r.k.Name))
			taken[fold(r.to)] = true
			m.order[r.k.ID] = len(m.order) + 1
			progress = true
		}
	}
	for _, r := range left {
		m.refused[r.k.ID] = true
		p.problem(r.to, nameTaken)
	}
}

// position orders changes: renames in their order, then everything else.
func (m *matching) position(c Change) int {
	if c.Rename == "" {
		return len(m.order) + 1
	}
	return m.order[c.ID]
}
