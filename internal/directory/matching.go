package directory

import (
	"strings"

	"github.com/iris-oncall/iris/internal/users"
)

const nameHeld = "the log-in name is somebody else's here: rename one of them"

// matching says which entries are which people: first by what the directory calls them for good, then by name. So who was
// renamed there stays the same person here, and gets the new name when nobody else has it.
type matching struct {
	source  string
	entries []Entry // with trimmed names, and without ids that say nothing
	stable  map[string]Known
	named   map[string]Known
	there   map[string]bool // ids that the directory has
	// refused are people whose new name somebody else has.
	refused map[users.ID]bool
	turns   map[users.ID]int // in which order people are renamed
}

func newMatching(source string, here []Known, entries []Entry, p *Plan) *matching {
	m := &matching{source: source, stable: map[string]Known{}, named: map[string]Known{}, there: map[string]bool{}, refused: map[users.ID]bool{},
		turns: map[users.ID]int{}}
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
			p.problem(e.Name, "several entries have the same id, it says nothing of who they are")
			e.Stable = ""
		}
		m.there[e.Stable] = true
		m.entries = append(m.entries, e)
	}
	m.rename(p)
	return m
}

// find returns the person whom an entry means.
func (m *matching) find(e Entry) (Known, bool) {
	if k, ok := m.stable[e.Stable]; ok && e.Stable != "" {
		return k, true
	}
	k, ok := m.named[fold(e.Name)]
	if ok && k.Source == m.source && k.Stable != "" && m.there[k.Stable] {
		return Known{}, false // that person is another entry
	}
	return k, ok
}

// another reports whether a person was another entry of the directory until now.
func another(source string, k Known, e Entry) bool {
	return k.Source == source && k.Stable != "" && e.Stable != "" && k.Stable != e.Stable
}

// name is what an entry's person is to be called here.
func (m *matching) name(e Entry, k Known, known bool) string {
	if known && (m.refused[k.ID] || CheckName(e.Name) != nil && m.stable[e.Stable].ID == k.ID) {
		return k.Name
	}
	return e.Name
}

// rename finds an order in which people can get their new names: a name must be free by then. Who goes round in a circle, or
// wants the name of somebody who keeps it, keeps their own.
func (m *matching) rename(p *Plan) {
	type renaming struct {
		k  Known
		to string
	}
	var left []renaming
	asked := map[string]bool{} // names that an entry before has
	for _, e := range m.entries {
		k, ok := m.find(e)
		to := fold(e.Name)
		first := !asked[to]
		asked[to] = true
		switch {
		case !ok || to == fold(k.Name) || CheckName(e.Name) != nil:
		case first:
			left = append(left, renaming{k, e.Name})
		default:
			m.refused[k.ID] = true
			p.problem(e.Name, nameHeld)
		}
	}
	held := map[string]bool{}
	for name := range m.named {
		held[name] = true
	}
	for progress := true; progress; {
		progress = false
		rest := left
		left = nil
		for _, r := range rest {
			if held[fold(r.to)] {
				left = append(left, r)
				continue
			}
			delete(held, fold(r.k.Name))
			held[fold(r.to)] = true
			m.turns[r.k.ID] = len(m.turns) + 1
			progress = true
		}
	}
	for _, r := range left {
		m.refused[r.k.ID] = true
		p.problem(r.to, nameHeld)
	}
}

// turn orders changes: renames one after the other, then everything else.
func (m *matching) turn(c Change) int {
	if c.Rename == "" {
		return len(m.turns) + 1
	}
	return m.turns[c.ID]
}
