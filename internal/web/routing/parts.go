package routing

import (
	"reflect"
)

// Missing returns the name of the first nil interface, function or pointer in a struct of dependencies and the structs
// inside it. An operation without its function is missing too, also in what a pointer leads to. Fields with the tag
// `optional:"true"` may be nil. It returns "" if nothing is missing.
func Missing(deps any) string { return missing(reflect.ValueOf(deps)) }

func missing(v reflect.Value) string {
	for i := range v.NumField() {
		field, f := v.Type().Field(i), v.Field(i)
		if !field.IsExported() || field.Tag.Get("optional") == "true" {
			continue
		}
		switch f.Kind() {
		case reflect.Interface, reflect.Func, reflect.Pointer:
			if f.IsNil() || unbound(f) {
				return field.Name
			}
			if f.Kind() == reflect.Pointer && f.Elem().Kind() == reflect.Struct {
				if name := operationOf(f.Elem()); name != "" {
					return field.Name + "." + name
				}
			}
		case reflect.Struct:
			if unbound(f) {
				return field.Name
			}
			if name := missing(f); name != "" {
				return field.Name + "." + name
			}
		}
	}
	return ""
}

// unbound reports whether a value is an operation.Op without its function.
func unbound(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return false
	}
	op, ok := v.Interface().(interface{ Bound() bool })
	return ok && !op.Bound()
}

// operationOf returns the name of the first operation in a struct that has no function.
func operationOf(v reflect.Value) string {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.IsExported() && field.Tag.Get("optional") != "true" && unbound(v.Field(i)) {
			return field.Name
		}
	}
	return ""
}
