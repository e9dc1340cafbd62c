package directory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Kind is what happens to a person or list.
type Kind string

// The kinds of changes.
const (
	Add       Kind = "add"
	Update    Kind = "update"
	Adopt     Kind = "adopt" // nothing changes, but from now on the directory decides
	SwitchOn  Kind = "switch on"
	SwitchOff Kind = "switch off"
)

// Change is what has to be stored of one person. Whatever is nil or absent stays as it is.
type Change struct {
	Kind     Kind
	ID       users.ID // 0 = to be added
	Name     string
	Source   string
	FullName *string
	PhotoURL *string
	// Rename is the log-in name to give instead of Name; "" = it stays.
	Rename string
	// Stable is the directory's own name of the person to remember; "" = what is remembered stays.
	Stable string
	// Contacts to set; "" removes one.
	Contacts map[users.Mode]string
	// Given replaces what is remembered of the directory's contacts; nil leaves it.
	Given map[users.Mode]string
}

// Detail says what changes without repeating contacts, which are nobody's business.
func (c Change) Detail() string {
	var parts []string
	if c.Rename != "" {
		parts = append(parts, "log-in name, now "+c.Rename)
	}
	if c.FullName != nil {
		parts = append(parts, "full name")
	}
	if c.PhotoURL != nil {
		parts = append(parts, "photo")
	}
	for _, mode := range users.Modes {
		if destination, ok := c.Contacts[mode]; ok && destination == "" {
			parts = append(parts, "no "+string(mode))
		} else if ok {
			parts = append(parts, string(mode))
		}
	}
	return strings.Join(parts, ", ")
}

// Problem is an entry that was left out, or a part of it.
type Problem struct {
	Name string
	Text string
	Err  error // for the log, where it could not be stored; nil = the entry is to blame
}

// Plan is what has to change so that Iris agrees with a directory.
type Plan struct {
	Changes  []Change // renames first, then by name
	Problems []Problem
	// People are the usable entries under the names that they have here.
	People []Entry
	// Kept is how many active people the directory keeps, Gone how many of them it has no more.
	Kept, Gone int
	// Strangers are active people whom the directory never had: they are left alone.
	Strangers int
}

// Compare says what has to change so that the people of Iris agree with those of a directory. Presets are people who are
// always there, whether the directory has them or not. Whom the directory renamed stays the same person where it says who they are (Entry.Stable).
// An entry that cannot be used is a problem; it still counts as there, so that nobody is switched off for it.
func Compare(source string, here []Known, entries, presets []Entry, rules Rules) Plan {
	var p Plan
	m := newMatching(source, here, entries, &p)
	there, seen := map[string]bool{}, map[users.ID]bool{}
	take := func(e Entry, preset bool) {
		k, known := m.find(e)
		if known {
			seen[k.ID] = true
		}
		name := m.name(e, k, known)
		if err := CheckName(name); err != nil {
			p.problem(cmp.Or(name, e.Email), fault.Public(err))
			return
		}
		key := fold(name)
		if there[key] {
			if !preset { // a preset steps back behind the directory's entry
				p.problem(name, "the directory has several entries of this name: the first is taken")
			}
			return
		}
		there[key] = true
		if err := CheckName(e.Name); err != nil {
			p.problem(e.Name, fault.Public(err))
		}
		e.Name = name
		p.People = append(p.People, e)
		if e.Email == "" && !preset && source == LDAP { // service accounts, as a rule
			p.problem(name, "the entry has no e-mail address")
			return
		}
		c, notes, err := arrival(source, k, known, e, rules, preset)
		for _, note := range notes {
			p.problem(name, note)
		}
		if err != nil {
			p.problem(name, fault.Public(err))
			return
		}
		if c.Kind != "" {
			p.Changes = append(p.Changes, c)
		}
	}
	for _, e := range m.entries {
		take(e, false)
	}
	for _, e := range presets {
		e.Stable = ""
		take(e, true)
	}
	p.vanish(source, here, seen)
	slices.SortFunc(p.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(m.turn(a), m.turn(b)), cmp.Compare(fold(a.Name), fold(b.Name)))
	})
	p.dropHeldNames(here)
	return p
}

// dropHeldNames leaves out whoever is to get a name that is not free when it is their turn: the holder was to be called
// otherwise, and is not for another reason.
func (p *Plan) dropHeldNames(here []Known) {
	names, holders := map[users.ID]string{}, map[string]bool{}
	for _, k := range here {
		names[k.ID], holders[fold(k.Name)] = fold(k.Name), true
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c Change) bool {
		wanted := c.Rename
		if c.Kind == Add {
			wanted = c.Name
		}
		key := fold(wanted)
		if wanted == "" || key == names[c.ID] && c.Kind != Add {
			return false
		}
		if holders[key] {
			p.problem(wanted, nameHeld)
			return true
		}
		delete(holders, names[c.ID])
		holders[key] = true
		return false
	})
}

func (p *Plan) problem(name, text string) {
	p.Problems = append(p.Problems, Problem{Name: fmt.Sprintf("%.100s", name), Text: text})
}

// vanish switches off who was in the directory and is there no more. Whoever an operator switched on again stays on.
func (p *Plan) vanish(source string, here []Known, seen map[users.ID]bool) {
	for _, k := range here {
		switch {
		case !k.Active:
		case k.Source != source:
			if !seen[k.ID] {
				p.Strangers++
			}
		case seen[k.ID]:
			p.Kept++
		case !k.SwitchedOff:
			p.Kept, p.Gone = p.Kept+1, p.Gone+1
			p.Changes = append(p.Changes, Change{Kind: SwitchOff, ID: k.ID, Name: k.Name, Source: source})
		}
	}
}

// Arrival says what has to be stored of somebody who logs in with the directory's password; a change of no kind = nothing.
// here are the people of that name, and who the directory says they are. Somebody else's name is a Conflict fault: whoever the directory
// gave it to must not become them.
func Arrival(source string, here []Known, e Entry, rules Rules) (Change, error) {
	var p Plan
	m := newMatching(source, here, []Entry{e}, &p)
	e = m.entries[0]
	k, known := m.find(e)
	holder, held := m.named[fold(e.Name)]
	if known && held && holder.ID != k.ID || len(p.Problems) > 0 || rules.Synced && known && another(source, k, e) {
		return Change{}, fault.New(fault.Conflict, nameHeld)
	}
	if err := CheckName(e.Name); err != nil {
		return Change{}, err
	}
	if known && !k.Active {
		return Change{}, nil // a log-in switches nobody on
	}
	c, _, err := arrival(source, k, known, e, rules, false)
	return c, err
}

// arrival compares one person with their entry. keep: what the entry does not say stays, also what a directory gave before.
func arrival(source string, k Known, known bool, e Entry, rules Rules, keep bool) (c Change, notes []string, err error) {
	want, unclear, err := rules.contacts(e)
	if err != nil {
		return c, nil, err
	}
	if len(unclear) > 0 {
		notes = append(notes, "cannot be understood, what is known stays: "+joined(unclear))
	}
	c = Change{ID: k.ID, Name: e.Name, Source: source, Contacts: map[users.Mode]string{}}
	if known {
		c.Name = k.Name
		if fold(k.Name) != fold(e.Name) {
			c.Rename = e.Name
		}
		if another(source, k, e) {
			notes = append(notes, "the directory has another entry of this name than before, it is taken for the same person")
		}
	}
	if e.Stable != k.Stable || source != k.Source {
		c.Stable = e.Stable
	}
	if full := strings.TrimSpace(strings.ToValidUTF8(e.FullName, "")); full != "" && full != k.FullName {
		c.FullName = &full
	}
	if photo := rules.photo(e); photo != "" && k.PhotoURL == "" {
		c.PhotoURL = &photo
	}
	for mode, destination := range want {
		if k.Contacts[mode] != destination {
			c.Contacts[mode] = destination
		}
	}
	given := maps.Clone(want)
	for mode, last := range k.Given {
		switch {
		case want[mode] != "":
		case keep || slices.Contains(unclear, mode):
			given[mode] = last
		case k.Contacts[mode] == last: // theirs, not one that the person put in its place
			c.Contacts[mode] = ""
		}
	}
	if !maps.Equal(given, k.Given) {
		c.Given = given
	}
	changed := c.Rename != "" || c.FullName != nil || c.PhotoURL != nil || len(c.Contacts) > 0
	switch {
	case !known:
		c.Kind = Add
	case !k.Active && k.SwitchedOff:
		c.Kind = SwitchOn
	case changed:
		c.Kind = Update
	case k.Source != source || c.Given != nil || c.Stable != "" || k.SwitchedOff:
		c.Kind = Adopt
	}
	return c, notes, nil
}

func joined(modes []users.Mode) string {
	words := make([]string, len(modes))
	for i, m := range modes {
		words[i] = string(m)
	}
	return strings.Join(words, ", ")
}

// fold makes names comparable: case makes no difference.
func fold(name string) string { return strings.ToLower(strings.TrimSpace(name)) }
