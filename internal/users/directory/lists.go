package directory

import (
	"cmp"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// ListChange is the change of one mailing list.
type ListChange struct {
	Kind    Kind
	ID      int64 // 0 = a new list
	Name    string
	Size    int
	Members []string // names of all people on the list; not used for a list that is switched off
}

// ListPlan has the changes that make the mailing lists of Iris equal to those of a directory.
type ListPlan struct {
	Changes  []ListChange // by name
	Problems []Problem
	// Synced is the number of active lists that came from the directory. Gone is how many of them it no longer has.
	Synced, Gone int
	// Members is the number of members of the synced lists. Lost is how many of them the directory no longer lists.
	Members, Lost int
}

// CompareLists returns the changes that make the mailing lists of Iris equal to those of a directory. entries are the
// people of the directory. Other members count in the size of a list and are not paged.
func CompareLists(here []KnownList, lists []List, entries []Entry) ListPlan {
	var p ListPlan
	names := make(map[string]string, len(entries))
	for _, e := range entries {
		if CheckName(e.Name) == nil {
			names[fold(e.Ref)] = e.Name
		}
	}
	by := make(map[string]KnownList, len(here))
	for _, k := range here {
		by[fold(k.Name)] = k
	}
	there := map[string]bool{}
	for _, l := range lists {
		key := fold(l.Name)
		if err := CheckListName(l.Name); err != nil {
			p.Problems = append(p.Problems, Problem{Name: l.Name, Text: fault.Public(err)})
			continue
		}
		if there[key] {
			p.Problems = append(p.Problems, Problem{Name: l.Name,
				Text: "the directory has several lists with this name: the first one is used"})
			continue
		}
		there[key] = true
		k, known := by[key]
		p.compare(k, known, l, names)
	}
	for _, k := range here {
		if !k.Synced || !k.Active {
			continue
		}
		p.Synced++
		p.Members += len(k.Members)
		if !there[fold(k.Name)] {
			p.Gone++
			p.Lost += len(k.Members)
			p.Changes = append(p.Changes, ListChange{Kind: SwitchOff, ID: k.ID, Name: k.Name})
		}
	}
	slices.SortFunc(p.Changes, func(a, b ListChange) int { return cmp.Compare(fold(a.Name), fold(b.Name)) })
	return p
}

func (p *ListPlan) compare(k KnownList, known bool, l List, names map[string]string) {
	c := ListChange{ID: k.ID, Name: l.Name, Size: max(l.Size, len(l.Members))}
	on := map[string]bool{}
	for _, ref := range l.Members {
		if name, ok := names[fold(ref)]; ok && !on[fold(name)] {
			on[fold(name)] = true
			c.Members = append(c.Members, name)
		}
	}
	slices.Sort(c.Members)
	same := len(c.Members) == len(k.Members)
	for _, name := range k.Members {
		if !on[fold(name)] {
			same = false
			if k.Synced && k.Active {
				p.Lost++
			}
		}
	}
	switch {
	case !known:
		c.Kind = Add
	case !k.Active:
		c.Kind = SwitchOn
	case !same || k.Size != c.Size:
		c.Kind = Update
	case !k.Synced:
		c.Kind = Adopt
	default:
		return
	}
	if known {
		c.Name = k.Name
	}
	p.Changes = append(p.Changes, c)
}

// CheckListName returns an Invalid fault for a name that a list cannot have.
func CheckListName(name string) error {
	switch {
	case fold(name) == "":
		return fault.Invalidf("name", "the list has no name")
	case len(name) > maxName:
		return fault.Invalidf("name", "the name is longer than %d bytes", maxName)
	}
	return nil
}
