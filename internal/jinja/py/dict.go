package py

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Dict is a dictionary that keeps the order of insertion.
type Dict struct {
	entries []entry
	index   map[any]int // by hash key; nil while the dictionary is small
	dead    int
}

type entry struct {
	hash any // see hashKey; nil when deleted
	key  Value
	val  Value
}

const smallDict = 8

type (
	hashNone  struct{}
	hashUndef struct{}
	hashBig   string
	hashTuple string
	hashBytes string
)

// hashKey returns a comparable Go value that is equal for values that are equal in Python, or the error of hash(v).
func hashKey(b *Budget, v Value) (any, *Error) {
	switch x := v.(type) {
	case nil:
		return hashNone{}, nil
	case string:
		return x, nil
	case Markup:
		return string(x), nil
	case bool:
		return boolInt(x), nil
	case int64:
		return x, nil
	case *big.Int:
		return hashBig(x.String()), nil
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<62 {
			return int64(x), nil
		}
		return x, nil
	case Bytes:
		return hashBytes(x), nil
	case *Undefined:
		return hashUndef{}, nil
	case *Tuple:
		b.Enter()
		defer b.Leave()
		var sb strings.Builder
		for _, it := range x.Items {
			h, err := hashKey(b, it)
			if err != nil {
				return nil, err
			}
			s := hashText(h)
			b.Grow(int64(len(s) + 8))
			sb.WriteString(strconv.Itoa(len(s)))
			sb.WriteByte(':')
			sb.WriteString(s)
		}
		return hashTuple(sb.String()), nil
	case *List, *Dict:
		return nil, fail("TypeError", "a %s cannot be a key", TypeName(v))
	case *View:
		if x.kind != "values" {
			return nil, fail("TypeError", "a %s cannot be a key", TypeName(v))
		}
	}
	return v, nil // identity
}

func hashText(h any) string {
	switch x := h.(type) {
	case string:
		return "s" + x
	case int64:
		return "i" + strconv.FormatInt(x, 10)
	case float64:
		return "f" + strconv.FormatFloat(x, 'g', -1, 64)
	case hashNone:
		return "n"
	case hashUndef:
		return "u"
	case hashBig:
		return "b" + string(x)
	case hashTuple:
		return "t" + string(x)
	case hashBytes:
		return "y" + string(x)
	}
	return fmt.Sprintf("p%p", h)
}

// NewDict returns an empty dictionary.
func NewDict() *Dict { return &Dict{} }

// Len is the number of entries.
func (d *Dict) Len() int { return len(d.entries) - d.dead }

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

// Get returns the value of a key; false if there is none. Unhashable keys raise.
func (d *Dict) Get(b *Budget, key Value) (Value, bool) {
	h, err := hashKey(b, key)
	if err != nil {
		panic(err)
	}
	return d.getHash(h)
}

// GetString returns the value of a string key.
func (d *Dict) GetString(key string) (Value, bool) { return d.getHash(key) }

func (d *Dict) getHash(h any) (Value, bool) {
	if i := d.find(h); i >= 0 {
		return d.entries[i].val, true
	}
	return nil, false
}

// Set stores a value under a key and pays for a new entry. Unhashable keys raise.
func (d *Dict) Set(b *Budget, key, val Value) {
	h, err := hashKey(b, key)
	if err != nil {
		panic(err)
	}
	if i := d.find(h); i >= 0 {
		d.entries[i].val = val
		return
	}
	b.Grow(8 * valueSize)
	d.add(entry{hash: h, key: key, val: val})
}

func (d *Dict) add(e entry) {
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
		if d.entries[i].hash != nil {
			d.index[d.entries[i].hash] = i
		}
	}
}

// Delete removes a key and returns its value; false if there was none.
func (d *Dict) Delete(b *Budget, key Value) (Value, bool) {
	h, err := hashKey(b, key)
	if err != nil {
		panic(err)
	}
	i := d.find(h)
	if i < 0 {
		return nil, false
	}
	v := d.entries[i].val
	d.deleteAt(i)
	return v, true
}

func (d *Dict) deleteAt(i int) {
	if d.index != nil {
		delete(d.index, d.entries[i].hash)
	}
	d.entries[i] = entry{}
	d.dead++
	if d.dead > 16 && d.dead > len(d.entries)/2 {
		live := d.entries[:0:0]
		for _, e := range d.entries {
			if e.hash != nil {
				live = append(live, e)
			}
		}
		d.entries, d.dead, d.index = live, 0, nil
		if len(live) > smallDict {
			d.reindex()
		}
	}
}

// Put stores a value under a key without paying, as for data that is decoded before the template runs.
func (d *Dict) Put(key string, val Value) {
	if i := d.find(key); i >= 0 {
		d.entries[i].val = val
		return
	}
	d.add(entry{hash: key, key: key, val: val})
}

// PopLast removes the last entry and returns it; false if there is none.
func (d *Dict) PopLast() (key, val Value, ok bool) {
	for i := len(d.entries) - 1; i >= 0; i-- {
		if e := d.entries[i]; e.hash != nil {
			d.deleteAt(i)
			return e.key, e.val, true
		}
	}
	return nil, nil, false
}

// Each calls f for every entry in order until it returns false. f must not change the dictionary.
func (d *Dict) Each(f func(key, val Value) bool) {
	for i := range d.entries {
		if e := &d.entries[i]; e.hash != nil && !f(e.key, e.val) {
			return
		}
	}
}

// Update adds the entries of another dictionary.
func (d *Dict) Update(b *Budget, from *Dict) {
	for _, e := range from.entries[:len(from.entries):len(from.entries)] {
		if e.hash != nil {
			d.Set(b, e.key, e.val)
		}
	}
}

// Views returns the view of a kind: keys, values or items.
func (d *Dict) View(kind string) *View { return &View{dict: d, kind: kind} }

// View is what dict.keys, dict.values and dict.items return.
type View struct {
	dict *Dict
	kind string // keys, values, items
}

// iter walks the entries; the dictionary must keep its size meanwhile.
func (d *Dict) iter(b *Budget, kind string) func() (Value, bool) {
	i, size := 0, d.Len()
	return func() (Value, bool) {
		b.Step(1)
		if d.Len() != size {
			Raise("RuntimeError", "dictionary changed size during iteration")
		}
		for i < len(d.entries) && d.entries[i].hash == nil {
			i++
		}
		if i >= len(d.entries) {
			return nil, false
		}
		e := &d.entries[i]
		i++
		return pick(b, kind, e.key, e.val), true
	}
}

// reversed walks the entries backwards.
func (d *Dict) reversed(b *Budget, kind string) func() (Value, bool) {
	i := len(d.entries)
	return func() (Value, bool) {
		b.Step(1)
		for i = min(i, len(d.entries)) - 1; i >= 0 && d.entries[i].hash == nil; i-- {
		}
		if i < 0 {
			return nil, false
		}
		return pick(b, kind, d.entries[i].key, d.entries[i].val), true
	}
}

func pick(b *Budget, kind string, k, v Value) Value {
	switch kind {
	case "values":
		return v
	case "items":
		b.Grow(3 * valueSize)
		return &Tuple{Items: []Value{k, v}}
	}
	return k
}
