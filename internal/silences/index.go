package silences

import (
	"maps"
	"slices"
)

// index finds the silences that can match an incident, so that an opening does not ask all of them. The numbers are
// positions in a list.
type index struct {
	labels       map[string]map[string][]int // by a label and its value
	plans        map[int64][]int
	applications map[int64][]int
	others       []int
}

// pair is a label and a value.
type pair struct{ label, value string }

// indexOf returns an index of a list. Each silence is under one of its conditions: of its labels, that which the fewest
// silences have in common.
func indexOf(all []current) index {
	x := index{labels: map[string]map[string][]int{}, plans: map[int64][]int{}, applications: map[int64][]int{}}
	common := map[pair]int{}
	for k := range all {
		for label, values := range all[k].listed {
			for _, v := range values {
				common[pair{label, v}]++
			}
		}
	}
	for k := range all {
		c := &all[k]
		switch label, ok := rarest(c.listed, common); {
		case ok:
			if x.labels[label] == nil {
				x.labels[label] = map[string][]int{}
			}
			for _, v := range c.listed[label] {
				x.labels[label][v] = append(x.labels[label][v], k)
			}
		case c.Plan != "" || c.Team != "":
			for _, id := range c.PlanIDs {
				x.plans[id] = append(x.plans[id], k)
			}
		case c.ApplicationID != 0:
			x.applications[c.ApplicationID] = append(x.applications[c.ApplicationID], k)
		default:
			x.others = append(x.others, k)
		}
	}
	return x
}

// rarest returns the label whose most common value is the rarest; false if there is none.
func rarest(listed map[string][]string, common map[pair]int) (label string, ok bool) {
	least := 0
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		most := 0
		for _, v := range listed[name] {
			most = max(most, common[pair{name, v}])
		}
		if !ok || most < least {
			label, least, ok = name, most, true
		}
	}
	return label, ok
}

// candidates returns the silences that can match an incident, in the order of the list.
func (x index) candidates(s *Subject) []int {
	out := slices.Concat(x.others, x.plans[s.PlanID], x.applications[s.ApplicationID])
	for label, values := range x.labels {
		out = append(out, values[s.label(label)]...)
	}
	slices.Sort(out)
	return out
}
