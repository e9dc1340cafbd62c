package py

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
)

// Dict is a dictionary that keeps the order of insertion.
type Dict struct {
	entries []entry
	index   map[any]int // by hash key; nil while the dictionary is small
}

type entry struct {
	hash     any // see hashKey
	key, val Value
}

const smallDict = 8

// Types of hash keys for values that Go would not compare by their content.
type (
	hashUndefined struct{}
	hashBig       string
	hashTuple     string
)

// hashKey returns a comparable Go value that is equal for values that are equal in Python, or the error of hash(v).
func hashKey(b *Budget, v Value) (any, *Error) {
	switch x := v.(type) {
	case Markup:
		return string(x), nil
	case bool:
		return BoolInt(x), nil
	case *big.Int:
		return hashBig(x.String()), nil
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<62 {
			return int64(x), nil
		}
	case *Undefined:
		return hashUndefined{}, nil
	case *Tuple:
		return hashItems(b, x.Items)
	case *List, *Dict:
		return nil, fail("TypeError", "a %s cannot be a key", TypeName(v))
	case *View:
		if x.kind != "values" {
			return nil, fail("TypeError", "a %s cannot be a key", TypeName(v))
		}
	}
	return v, nil
}

func hashItems(b *Budget, items []Value) (any, *Error) {
	b.Enter()
	defer b.Leave()
	var sb strings.Builder
	for _, it := range items {
		h, err := hashKey(b, it)
		if err != nil {
			return nil, err
		}
		s := fmt.Sprintf("%T", h)
		switch h.(type) {
		case string, int64, float64, hashBig, hashTuple, Bytes:
			s += fmt.Sprint(h)
		default:
			s += fmt.Sprintf("%p", h)
		}
		b.Grow(int64(len(s) + 8))
		fmt.Fprintf(&sb, "%d:%s", len(s), s)
	}
	return hashTuple(sb.String()), nil
}

func mustHash(b *Budget, key Value) any {
	h, err := hashKey(b, key)
	if err != nil {
		panic(err)
	}
	return h
}

// NewDict returns an empty dictionary.
func NewDict() *Dict { return &Dict{} }

// Len is the number of entries.
func (d *Dict) Len() int { return len(d.entries) }

func (d *Dict) find(hash any) int {
	if d.index != nil {
		if i, ok := d.index[hash]; ok {
			return i
		}
		return -1
	}
	for i := range d.entries {
		if d.entries[i].hash == hash {
			return i
		}
	}
	return -1
}

// Get returns the value of a key; false if there is none. Values that cannot be keys raise TypeError.
func (d *Dict) Get(b *Budget, key Value) (Value, bool) { return d.getHash(mustHash(b, key)) }

// GetString returns the value of a string key.
func (d *Dict) GetString(key string) (Value, bool) { return d.getHash(key) }

func (d *Dict) getHash(h any) (Value, bool) {
	if i := d.find(h); i >= 0 {
		return d.entries[i].val, true
	}
	return nil, false
}

// Set stores a value under a key and charges the budget for a new entry. Values that cannot be keys raise TypeError.
func (d *Dict) Set(b *Budget, key, val Value) {
	h := mustHash(b, key)
	if d.find(h) < 0 {
		b.Grow(8 * valueSize)
	}
	d.put(entry{h, key, val})
}

// Put stores a value under a key without charging a budget. It is for data that is decoded before the template runs.
func (d *Dict) Put(key string, val Value) {
	var k Value = key
	d.put(entry{k, k, val})
}

func (d *Dict) put(e entry) {
	if i := d.find(e.hash); i >= 0 {
		d.entries[i].val = e.val
		return
	}
	if d.entries == nil {
		d.entries = make([]entry, 0, smallDict/2)
	}
	d.entries = append(d.entries, e)
	switch {
	case d.index != nil:
		d.index[e.hash] = len(d.entries) - 1
	case len(d.entries) > smallDict:
		d.reindex()
	}
}

func (d *Dict) reindex() {
	d.index = make(map[any]int, 2*len(d.entries))
	for i := range d.entries {
		d.index[d.entries[i].hash] = i
	}
}

// Delete removes a key and returns its value; false if there was none.
func (d *Dict) Delete(b *Budget, key Value) (Value, bool) {
	i := d.find(mustHash(b, key))
	if i < 0 {
		return nil, false
	}
	v := d.entries[i].val
	b.Scan(len(d.entries)) // the later entries move
	last := i == len(d.entries)-1
	hash := d.entries[i].hash
	d.entries = slices.Delete(d.entries, i, i+1)
	switch {
	case d.index != nil && last:
		delete(d.index, hash)
	case d.index != nil:
		d.reindex()
	}
	return v, true
}

// PopLast removes the last entry and returns it; false if there is none.
func (d *Dict) PopLast(b *Budget) (key, val Value, ok bool) {
	if len(d.entries) == 0 {
		return nil, nil, false
	}
	e := d.entries[len(d.entries)-1]
	d.Delete(b, e.key)
	return e.key, e.val, true
}

// Each calls f for every entry in order until it returns false. f must not change the dictionary.
func (d *Dict) Each(f func(key, val Value) bool) {
	for _, e := range d.entries {
		if !f(e.key, e.val) {
			return
		}
	}
}

// Update adds the entries of another dictionary.
func (d *Dict) Update(b *Budget, from *Dict) {
	for _, e := range from.entries {
		d.Set(b, e.key, e.val)
	}
}

// View is what dict.keys, dict.values and dict.items return.
type View struct {
	dict *Dict
	kind string // keys, values or items
}

// View returns a view of a kind: keys, values or items.
func (d *Dict) View(kind string) *View { return &View{dict: d, kind: kind} }

// at returns the i-th element.
func (v *View) at(b *Budget, i int) Value {
	switch e := v.dict.entries[i]; v.kind {
	case "values":
		return e.val
	case "items":
		b.GrowValues(3)
		return &Tuple{Items: []Value{e.key, e.val}}
	default:
		return e.key
	}
}
