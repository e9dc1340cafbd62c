package pg

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// rotationVersion is the format of schedules.rotation that this release writes. It reads this format and older ones.
const rotationVersion = 1

// storedRotation is schedules.rotation. Local times are seconds since 1970-01-01 00:00 in the team's time zone, times
// of day are seconds after midnight, days are counted from 1970-01-01.
type storedRotation struct {
	Version int           `json:"version"`
	Layers  []storedLayer `json:"layers"`
}

type storedLayer struct {
	Name     string         `json:"name,omitempty"`
	Start    int64          `json:"start"`
	End      *int64         `json:"end,omitempty"`
	Every    int            `json:"every"`
	Unit     string         `json:"unit"`
	HandOffs []int64        `json:"hand_offs,omitempty"`
	Restrict []storedWindow `json:"restrict,omitempty"`
	Holidays string         `json:"holidays,omitempty"`
	Members  []storedTurn   `json:"members"`
}

type storedWindow struct {
	Days []int `json:"days,omitempty"`
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

type storedTurn struct {
	User   int64  `json:"user_id"`
	Joins  *int32 `json:"joins,omitempty"`
	Leaves *int32 `json:"leaves,omitempty"`
}

type storedSlot struct {
	Start    int64 `json:"start"`
	Duration int64 `json:"duration"`
}

func encodePattern(slots []scheduling.Slot) (json.RawMessage, error) {
	out := make([]storedSlot, len(slots))
	for i, s := range slots {
		out[i] = storedSlot{Start: int64(s.Start / time.Second), Duration: int64(s.Duration / time.Second)}
	}
	return json.Marshal(out)
}

func decodePattern(raw json.RawMessage) ([]scheduling.Slot, error) {
	var stored []storedSlot
	if err := json.Unmarshal(raw, &stored); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the pattern of a schedule cannot be read")
	}
	out := make([]scheduling.Slot, len(stored))
	for i, s := range stored {
		out[i] = scheduling.Slot{Start: time.Duration(s.Start) * time.Second,
			Duration: time.Duration(s.Duration) * time.Second}
	}
	return out, nil
}

func encodeRotation(r *scheduling.Rotation) (json.RawMessage, error) {
	if r == nil {
		return nil, nil
	}
	out := storedRotation{Version: rotationVersion, Layers: make([]storedLayer, len(r.Layers))}
	for i, l := range r.Layers {
		s := storedLayer{Name: l.Name, Start: int64(l.Start), Every: l.Every, Unit: string(l.Unit),
			Holidays: string(l.Holidays)}
		if l.End != nil {
			end := int64(*l.End)
			s.End = &end
		}
		for _, h := range l.HandOffs {
			s.HandOffs = append(s.HandOffs, int64(h/time.Second))
		}
		if len(l.Restrict) > 0 {
			s.Restrict = storedWindows(l.Restrict)
		}
		for _, m := range l.Members {
			s.Members = append(s.Members, storedTurn{User: int64(m.User), Joins: (*int32)(m.Joins),
				Leaves: (*int32)(m.Leaves)})
		}
		out.Layers[i] = s
	}
	return json.Marshal(out)
}

func decodeRotation(raw json.RawMessage) (*scheduling.Rotation, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var stored storedRotation
	if err := json.Unmarshal(raw, &stored); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "a rotation cannot be read")
	}
	if stored.Version > rotationVersion {
		return nil, fault.Wrap(fault.Internal, fmt.Errorf("version %d", stored.Version),
			"a rotation was written by a newer release")
	}
	out := &scheduling.Rotation{Layers: make([]scheduling.Layer, len(stored.Layers))}
	for i, s := range stored.Layers {
		l := scheduling.Layer{
			Name: s.Name, Start: oncall.Local(s.Start), Every: s.Every, Unit: scheduling.Unit(s.Unit), Holidays: scheduling.HolidayRule(s.Holidays),
		}
		if s.End != nil {
			end := oncall.Local(*s.End)
			l.End = &end
		}
		for _, h := range s.HandOffs {
			l.HandOffs = append(l.HandOffs, time.Duration(h)*time.Second)
		}
		l.Restrict = windowsOf(s.Restrict)
		for _, m := range s.Members {
			l.Members = append(l.Members, scheduling.LayerMember{User: users.ID(m.User),
				Joins: (*oncall.Date)(m.Joins), Leaves: (*oncall.Date)(m.Leaves)})
		}
		out.Layers[i] = l
	}
	return out, nil
}
