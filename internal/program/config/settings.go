package config

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Setting is a key of the configuration as it is in force in this process. Nothing in it is secret.
type Setting struct {
	Key    string // such as smtp[0].addr
	Value  string // of a secret only "set" or "not set"
	Source string // where it is set: a line of the file or an environment variable; "" = the default
}

// inForce lists every setting, in the order of their keys. The sections that only processors use have the values of the
// file.
func (c *Config) inForce(out API) []Setting {
	f := c.file
	f.Common, f.HTTP, f.Compatibility, f.Intake, f.MailingLists = out.Common, out.HTTP, out.Compatibility, out.Intake, out.MailingLists
	f.IncidentRates, f.MaxPlanLength, f.Tags, f.History, f.TimeZones = out.IncidentRates, out.MaxPlanLength, out.Tags, out.History, out.TimeZones
	f.Oncall = out.Oncall
	s := settings{origin: c.loader.origin}
	s.add("", reflect.ValueOf(f))
	slices.SortFunc(s.all, func(a, b Setting) int { return strings.Compare(a.Key, b.Key) })
	return s.all
}

// settings collects the settings of nested structs.
type settings struct {
	origin map[string]string
	all    []Setting
}

func (s *settings) add(at string, v reflect.Value) {
	switch value := v.Interface().(type) {
	case Secret:
		s.put(at, map[bool]string{true: "set", false: "not set"}[value != ""])
		return
	case time.Duration:
		s.put(at, value.String())
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			switch tag := v.Type().Field(i).Tag.Get("koanf"); tag {
			case "":
			case ",squash":
				s.add(at, v.Field(i))
			default:
				s.add(join(at, tag), v.Field(i))
			}
		}
	case reflect.Slice:
		s.list(at, v)
	case reflect.Map:
		for _, key := range v.MapKeys() {
			s.add(join(at, key.String()), v.MapIndex(key))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			s.add(at, v.Elem())
		}
	case reflect.String:
		s.put(at, withoutPassword(v.String()))
	default:
		s.put(at, fmt.Sprint(v.Interface()))
	}
}

// list adds a list of plain values as one setting, and each struct or secret of another list.
func (s *settings) list(at string, v reflect.Value) {
	if kind := v.Type().Elem().Kind(); kind == reflect.Struct || v.Type().Elem() == reflect.TypeFor[Secret]() {
		for i := range v.Len() {
			s.add(at+"["+strconv.Itoa(i)+"]", v.Index(i))
		}
		return
	}
	texts := make([]string, v.Len())
	for i := range v.Len() {
		texts[i] = withoutPassword(fmt.Sprint(v.Index(i).Interface()))
	}
	s.put(at, strings.Join(texts, ", "))
}

func (s *settings) put(at, value string) {
	from := s.origin[at]
	if from == "" {
		from = s.origin[strings.Replace(at, "[0]", "", 1)]
	}
	if at != "" {
		s.all = append(s.all, Setting{at, value, from})
	}
}

// withoutPassword hides the user part of an address, which can be a secret.
func withoutPassword(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User == nil {
		return text
	}
	u.User = url.User("xxxxx")
	return u.String()
}
