package buckets

import (
	"cmp"
	"slices"
)

// StandIn is a bucket of another member that lacks modes which this process serves. This process takes the messages of
// these modes there. The lease is the owner's: another owner has another epoch.
type StandIn struct {
	Lease
	Modes []string
}

// StandIns returns the buckets in which this process takes messages for their owners, ascending by bucket. The slice is
// shared: do not change it. It is empty while every member serves the modes of this process.
func (h *Holder) StandIns() []StandIn {
	s := h.standIns.Load()
	if s == nil || !h.current() {
		return nil
	}
	return *s
}

// StandInsOf returns the buckets of the view in which self takes messages for their owners. A member that does not say
// which modes it serves counts as serving all. While an operator drains self, it takes only messages of modes that no
// other member serves.
func StandInsOf(v *View, self Member) []StandIn {
	mine := slices.Clone(self.Modes)
	if i := slices.IndexFunc(v.Members, func(m MemberState) bool { return m.ProcessID == self.ProcessID }); i >= 0 && v.Members[i].Draining {
		for _, m := range v.Members {
			if m.ProcessID != self.ProcessID && !m.Draining && m.Age < DefaultLimits().Fresh {
				mine = slices.DeleteFunc(mine, m.Serves)
			}
		}
	}
	lacking := map[string][]string{} // by owner
	for _, m := range v.Members {
		if lacks := slices.DeleteFunc(slices.Clone(mine), m.Serves); m.ProcessID != self.ProcessID && len(lacks) > 0 {
			lacking[m.ProcessID] = lacks
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	var out []StandIn
	for b, l := range v.Leases {
		if modes := lacking[l.Owner]; modes != nil {
			out = append(out, StandIn{Lease{b, l.Epoch}, modes})
		}
	}
	return out
}

// Serves reports whether the member has a vendor for a mode. One that does not say which modes it serves counts as
// serving all.
func (m Member) Serves(mode string) bool { return m.Modes == nil || slices.Contains(m.Modes, mode) }

// Lack is a mode that a live member does not serve, although others do.
type Lack struct {
	Member Member
	Mode   string
	Served int // how many live members serve it
}

// Lacks returns what live members lack, by member and mode.
func Lacks(members []MemberState) []Lack {
	served := map[string]int{}
	var live []Member
	for _, m := range members {
		if m.Age >= DefaultLimits().Fresh {
			continue
		}
		live = append(live, m.Member)
		for _, mode := range m.Modes {
			served[mode]++
		}
	}
	var out []Lack
	for _, m := range live {
		first := len(out)
		for mode, n := range served {
			if !m.Serves(mode) {
				out = append(out, Lack{m, mode, n})
			}
		}
		slices.SortFunc(out[first:], func(a, b Lack) int { return cmp.Compare(a.Mode, b.Mode) })
	}
	return out
}
