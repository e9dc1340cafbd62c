package jsonbody

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// At reads an object inside a body. Members that are not in known are an Invalid fault. place is the place of the
// object, such as steps[0][1]; faults name it.
func At(place string, raw json.RawMessage, known ...string) (Object, error) {
	b := Object{Raw: raw, Place: place}
	if json.Unmarshal(raw, &b.Members) != nil || b.Members == nil {
		return b, fault.Invalidf(place, "%s must be an object", place)
	}
	for name := range b.Members {
		if !slices.Contains(known, name) {
			return b, fault.Invalidf(b.field(name), "there is no member %.60q", name)
		}
	}
	return b, nil
}

// Member is At for a member of the object. ok is false for null and a missing member.
func (b Object) Member(name string, known ...string) (o Object, ok bool, err error) {
	if !b.Given(name) {
		return Object{}, false, nil
	}
	o, err = At(b.field(name), b.Members[name], known...)
	return o, err == nil, err
}

// List returns the elements of a list. More than most elements are an Invalid fault. The places of the elements are
// place[0] and so on.
func List(place string, raw json.RawMessage, most int) ([]json.RawMessage, error) {
	var out []json.RawMessage
	if json.Unmarshal(raw, &out) != nil || out == nil {
		return nil, fault.Invalidf(place, "%s must be a list", place)
	}
	if len(out) > most {
		return nil, fault.Invalidf(place, "%s must have at most %d elements", place, most)
	}
	return out, nil
}

// Objects returns a list of objects. Null and a missing key are an Invalid fault.
func (b Object) Objects(name string, most int, known ...string) ([]Object, error) {
	if !b.Given(name) {
		return nil, b.Missing(name)
	}
	place := b.field(name)
	items, err := List(place, b.Members[name], most)
	if err != nil {
		return nil, err
	}
	out := make([]Object, len(items))
	for i, item := range items {
		if out[i], err = At(fmt.Sprintf("%s[%d]", place, i), item, known...); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Names is Texts with an Invalid fault for more than most strings.
func (b Object) Names(name string, most int) (list []string, ok bool, err error) {
	list, ok, err = b.Texts(name)
	if len(list) > most {
		return nil, false, b.Fault(name, "%s must have at most %d elements", name, most)
	}
	return list, ok, err
}

// Whole returns a number without a fraction, from 0 to most; otherwise for null and a missing key.
func (b Object) Whole(name string, most, otherwise int64) (int64, error) {
	if !b.Given(name) {
		return otherwise, nil
	}
	var n int64
	if json.Unmarshal(b.Members[name], &n) != nil || n < 0 || n > most {
		return 0, b.Fault(name, "%s must be a whole number between 0 and %d", name, most)
	}
	return n, nil
}

// field returns the place of a member in the body.
func (b Object) field(name string) string {
	if b.Place == "" {
		return name
	}
	return b.Place + "." + name
}
