package routing

import (
	"reflect"
)

// Missing returns the name of the first part of a struct of dependencies that is missing: a nil interface, function or
// pointer. Structs inside are looked through. Fields with the tag `optional:"true"` may be nil. "" = complete.
func Missing(deps any) string { return missing(reflect.ValueOf(deps)) }

func missing(v reflect.Value) string {
	for i := range v.NumField() {
		field, f := v.Type().Field(i), v.Field(i)
		if !field.IsExported() || field.Tag.Get("optional") == "true" {
			continue
		}
		switch f.Kind() {
		case reflect.Interface, reflect.Func, reflect.Pointer:
			if f.IsNil() {
				return field.Name
			}
		case reflect.Struct:
			if name := missing(f); name != "" {
				return field.Name + "." + name
			}
		}
	}
	return ""
}
