package directory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Kind is the kind of a change.
type Kind string

// The kinds of changes.
const (
	Add       Kind = "add"
	Update    Kind = "update"
	Adopt     Kind = "adopt" // nothing changes, but from now on the entry is synchronised
	SwitchOn  Kind = "switch on"
	SwitchOff Kind = "switch off"
)

// Change is the change of one person. Fields that are nil or absent do not change.
type Change struct {
	Kind     Kind
	ID       users.ID // 0 = a new person
	Name     string
	Source   string
	FullName *string
	PhotoURL *string
	// Rename is the new log-in name; "" = Name stays.
	Rename string
	// Stable is the directory's id of the person to store; "" = the stored id stays.
	Stable string
	// Contacts to set; "" removes the contact of a mode.
	Contacts map[users.Mode]string
	// Given replaces the stored contacts of the directory; nil = they stay.
	Given map[users.Mode]string
}

// Detail describes the change without the values of contacts, which are private.
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

// Problem is an entry that was ignored, or a part of it.
type Problem struct {
	Name string
	Text string
	Err  error // for the log: why the change could not be stored; nil = the entry is wrong
}

// Plan has the changes that make the people of Iris equal to those of a directory.
type Plan struct {
	Changes  []Change // renames first, then by name
	Problems []Problem
	// People are the usable entries, with their names in Iris.
	People []Entry
	// Synced is the number of active people who came from the directory. Gone is how many of them it no longer has.
	Synced, Gone int
	// Unsynced is the number of active people who never were in the directory. They do not change.
	Unsynced int
}

// Compare returns the changes that make the people of Iris equal to those of a directory. Presets are people who always
// exist, whether or not the directory has them. A person who was renamed in the directory stays the same person if the
// entry has a Stable id. An entry that cannot be used is a problem, but its person is not switched off.
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
			if !preset { // the entry of the directory replaces a preset
				p.problem(name, "the directory has several entries with this name: the first one is used")
			}
			return
		}
		there[key] = true
		if err := CheckName(e.Name); err != nil {
			p.problem(e.Name, fault.Public(err))
		}
		e.Name = name
		p.People = append(p.People, e)
		if e.Email == "" && !preset && source == LDAP { // usually a service account
			p.problem(name, "the entry has no e-mail address")
			return
		}
		c, notes, err := comparePerson(source, k, known, e, rules, preset)
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
	p.switchOff(source, here, seen)
	slices.SortFunc(p.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(m.position(a), m.position(b)), cmp.Compare(fold(a.Name), fold(b.Name)))
	})
	p.dropTakenNames(here)
	return p
}

// dropTakenNames removes changes to a name that is not free. This happens if the present holder was to be renamed, and
// the rename was dropped for another reason.
func (p *Plan) dropTakenNames(here []Known) {
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
			p.problem(wanted, nameTaken)
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

// switchOff switches off people who are no longer in the directory. A person whom an operator switched on again stays
// on.
func (p *Plan) switchOff(source string, here []Known, seen map[users.ID]bool) {
	for _, k := range here {
		switch {
		case !k.Active:
		case k.Source != source:
			if !seen[k.ID] {
				p.Unsynced++
			}
		case seen[k.ID]:
			p.Synced++
		case !k.SwitchedOff:
			p.Synced, p.Gone = p.Synced+1, p.Gone+1
			p.Changes = append(p.Changes, Change{Kind: SwitchOff, ID: k.ID, Name: k.Name, Source: source})
		}
	}
}

// CompareLogin returns the change of a person who logs in with the directory's password; a change without a kind
// changes nothing. here are the people with that name and the person with the entry's id. If the name belongs to
// another person, it returns a Conflict fault.
func CompareLogin(source string, here []Known, e Entry, rules Rules) (Change, error) {
	var p Plan
	m := newMatching(source, here, []Entry{e}, &p)
	e = m.entries[0]
	k, known := m.find(e)
	holder, held := m.named[fold(e.Name)]
	if known && held && holder.ID != k.ID || len(p.Problems) > 0 || rules.Synced && known && hadOtherEntry(source, k, e) {
		return Change{}, fault.New(fault.Conflict, nameTaken)
	}
	if err := CheckName(e.Name); err != nil {
		return Change{}, err
	}
	if known && !k.Active {
		return Change{}, nil // a log-in does not switch a person on
	}
	c, _, err := comparePerson(source, k, known, e, rules, false)
	return c, err
}

// comparePerson compares a person with an entry. If keep is true, contacts that the entry does not have stay.
func comparePerson(source string, k Known, known bool, e Entry, rules Rules, keep bool) (c Change, notes []string, err error) {
	want, unclear, err := rules.contacts(e)
	if err != nil {
		return c, nil, err
	}
	if len(unclear) > 0 {
		notes = append(notes, "cannot be read, the stored contacts stay: "+joined(unclear))
	}
	c = Change{ID: k.ID, Name: e.Name, Source: source, Contacts: map[users.Mode]string{}}
	if known {
		c.Name = k.Name
		if fold(k.Name) != fold(e.Name) {
			c.Rename = e.Name
		}
		if hadOtherEntry(source, k, e) {
			notes = append(notes, "the directory has a new entry with this name, it is used for the same person")
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
		case k.Contacts[mode] == last: // the directory's contact, not one that the person has set since
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
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}

// fold returns a name in the form in which names are compared: without case.
func fold(name string) string { return strings.ToLower(strings.TrimSpace(name)) }
