package routing

import (
	"reflect"
)

// Missing returns the name of the first nil interface, function or pointer in a struct of dependencies and the structs
// inside it. Fields with the tag `optional:"true"` may be nil. It returns "" if nothing is missing.
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
