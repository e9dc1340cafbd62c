package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
)

// apply fills in the defaults of a section and checks it, as the tags of its fields say; path is the path of the
// section:
//
//	default:"20s"         the value of a key that is not set; the elements of a list are separated by commas
//	oneof:"json,console"  the permitted values, or elements of a list
//	range:"1-1000"        the permitted numbers, or 0
//	url:"http"            a URL that begins with http:// or https://
//
// No duration and no number may be negative. A text that is not set is permitted.
func (l *loader) apply(path string, section any) {
	v := reflect.ValueOf(section).Elem()
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		at := path
		if name := field.Tag.Get("koanf"); name != ",squash" {
			at = join(path, name)
		}
		if text := field.Tag.Get("default"); text != "" && (value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0) {
			setDefault(value, text)
		}
		switch {
		case value.Kind() == reflect.Struct:
			l.apply(at, value.Addr().Interface())
		case value.Kind() == reflect.Slice:
			for n := range value.Len() {
				l.check(index(at, n), field.Tag, value.Index(n))
			}
		case !value.IsZero():
			l.check(at, field.Tag, value)
		}
	}
}

// setDefault panics if text cannot be the value of the field. A test applies all tags.
func setDefault(field reflect.Value, text string) {
	var input any = text
	if field.Kind() == reflect.Slice {
		input = strings.Split(text, ",")
	}
	decoder, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result: field.Addr().Interface(), WeaklyTypedInput: true, DecodeHook: durationHook,
	})
	if err == nil {
		err = decoder.Decode(input)
	}
	if err != nil {
		panic(fmt.Sprintf("default %q: %v", text, err))
	}
}

func (l *loader) check(path string, tag reflect.StructTag, value reflect.Value) {
	switch v := value.Interface().(type) {
	case time.Duration:
		l.notNegative(path, v)
	case int:
		limits := tag.Get("range")
		lowest, highest := 0, v
		if _, err := fmt.Sscanf(limits, "%d-%d", &lowest, &highest); err == nil && (v < lowest || v > highest) {
			l.problem(l.where(path), "must be between %d and %d", lowest, highest)
		} else if v < 0 {
			l.problem(l.where(path), "must not be negative")
		}
	case string:
		if allowed := tag.Get("oneof"); allowed != "" {
			l.oneOf(path, v, strings.Split(allowed, ",")...)
		}
		if tag.Get("url") == "http" {
			l.httpURL(path, v)
		}
	}
}
