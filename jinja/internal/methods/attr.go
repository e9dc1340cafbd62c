package methods

import (
	"math/big"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/jinja/internal/py"
)

// bind returns a method of self as a value; false if the class has none of that name.
func bind(class map[string]*py.Func, name string, self py.Value) (py.Value, bool) {
	m, ok := class[name]
	if !ok {
		return nil, false
	}
	return m.Method(self), true
}

// GetAttr is obj.name as the sandbox sees it: the attribute, else the item, else Undefined. Attributes that begin with
// an underscore are refused.
func GetAttr(b *py.Budget, obj py.Value, name string) py.Value {
	b.Step(1)
	if u, ok := obj.(*py.Undefined); ok {
		if isPrivate(obj, name) {
			return unsafe(obj, name)
		}
		u.Raise()
	}
	if v, ok := Attr(b, obj, name); ok {
		return v
	}
	if v, err := py.Item(b, obj, name); err == nil {
		return v
	}
	return py.Missing(obj, name)
}

// GetItem is obj[key] as the sandbox sees it: the item, else the attribute of that name, else Undefined.
func GetItem(b *py.Budget, obj, key py.Value) py.Value {
	b.Step(1)
	py.RaiseUndefined(obj)
	v, err := py.Item(b, obj, key)
	if err == nil {
		return v
	}
	if name, ok := py.AsString(key); ok {
		if v, ok := Attr(b, obj, name); ok {
			return v
		}
	}
	return py.Missing(obj, key)
}

// Attr returns an attribute only, never an item; false if there is none. An attribute that is refused is an Undefined
// that raises SecurityError.
func Attr(b *py.Budget, obj py.Value, name string) (py.Value, bool) {
	if isPrivate(obj, name) {
		return unsafe(obj, name), true
	}
	switch x := obj.(type) {
	case string, py.Markup:
		if f, ok := formatMethod(obj, name); ok {
			return f, true
		}
		if _, safe := obj.(py.Markup); safe {
			return bind(markupMethods, name, obj)
		}
		return bind(textMethods, name, obj)
	case *py.Tuple:
		if i := slices.Index(x.Names, name); i >= 0 {
			return x.Items[i], true
		}
	case bool, int64, *big.Int, float64:
		return numberAttr(b, obj, name)
	case *py.Range:
		bounds := map[string]py.Value{"start": x.Start, "stop": x.Stop, "step": x.Step}
		if v, ok := bounds[name]; ok {
			return v, true
		}
	case *py.Func:
		v, ok := x.Attrs[name]
		return v, ok
	case py.Object:
		return x.Attr(b, name)
	}
	return bind(classes[py.TypeName(obj)], name, obj)
}

// classes are the methods of classes that have no attributes of another kind.
var classes = map[string]map[string]*py.Func{
	"dict": dictMethods, "list": listMethods, "tuple": tupleMethods, "range": rangeMethods, "bytes": bytesMethods,
	"dict_keys": viewMethods, "dict_values": viewMethods, "dict_items": viewMethods,
}

// Call calls a method by its name. It raises AttributeError if obj has none.
func Call(b *py.Budget, obj py.Value, name string, args ...py.Value) py.Value {
	py.RaiseUndefined(obj)
	m, ok := Attr(b, obj, name)
	if !ok {
		py.Raise("AttributeError", "a value of type %s has no %s", py.TypeName(obj), name)
	}
	return py.Call(b, m, py.Args{Pos: args})
}

func unsafe(obj py.Value, name string) py.Value {
	return &py.Undefined{Hint: "templates may not use " + name + " of a value of type " + py.TypeName(obj),
		Kind: "SecurityError"}
}

// isPrivate reports whether Python has an attribute of that name which the sandbox refuses.
func isPrivate(obj py.Value, name string) bool {
	if !strings.HasPrefix(name, "_") {
		return false
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(name, "__"), "__")
	switch obj.(type) {
	case *py.Undefined:
		return everyObjectHas[inner] || inner == "call" || strings.HasPrefix(name, "_undefined_")
	case *py.Func, py.Object:
		return true
	}
	return everyObjectHas[inner]
}

// everyObjectHas lists the attributes of the form __name__ that all Python objects have.
var everyObjectHas = names(`class delattr dir doc eq format ge getattribute getstate gt hash init init_subclass le lt ne new
	reduce reduce_ex repr setattr sizeof str subclasshook`)

func names(list string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(list) {
		m[n] = true
	}
	return m
}
