package page

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-playground/form/v4"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Bounds of a form that Decode reads.
const (
	maxFields = 500 // names
	maxList   = 500 // values of one name, or entries of a list
)

// fieldName is a name that Decode reads. The library panics at unbalanced brackets and at indexes that are no int.
var fieldName = regexp.MustCompile(`^[\w.-]{1,100}(\[(\d{1,4}|[A-Za-z_][\w-]{0,60})\](\.[\w-]{1,100})?){0,3}$`)

// Decode reads the form of r into the input of an operation. The name of a field is that of the JSON member: a member
// of an object is settings.title, an entry of a list rules[0].mode, one of a map contacts[email]. Fields that In lacks
// are ignored. Empty fields are as if they were not there. Spaces around a value are removed.
//
// A field of a number whose name ends in _seconds takes a period such as 1h30m. A time is that of an input of type
// datetime-local, in the zone of the reader. A list of texts takes several fields of one name, and fields with several
// texts: one a line, or separated by commas.
//
// A form that cannot be read is an Invalid fault that names all wrong fields. What could be read is returned with it.
func Decode[In any](r *http.Request) (in In, err error) { return DecodeIn[In](r, Zone(r)) }

// DecodeIn is Decode for times in a zone.
func DecodeIn[In any](r *http.Request, zone *time.Location) (in In, err error) {
	var wrong fault.Wrong
	values := readable(Typed(r), &wrong)
	var errs form.DecodeErrors
	if err := decoder(zone).Decode(&in, values); err != nil && !errors.As(err, &errs) {
		return in, err
	}
	for name, err := range errs {
		wrong.Add(name, "%s %s", name, problem(err))
	}
	slices.SortFunc(wrong, func(a, b fault.Field) int { return strings.Compare(a.Name, b.Name) })
	return in, wrong.Err()
}

// readable returns the values that are not empty, within the bounds, with periods in seconds.
func readable(typed url.Values, wrong *fault.Wrong) url.Values {
	out := url.Values{}
	for name, values := range typed {
		values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
		switch {
		case len(values) == 0 || !fieldName.MatchString(name):
			continue
		case len(values) > maxList:
			wrong.Add(name, "%s can have at most %d values", name, maxList)
			continue
		case len(out) == maxFields:
			*wrong = fault.Wrong{{Message: "The form has too many fields"}}
			return nil
		case strings.HasSuffix(name, "_seconds"):
			n, err := Seconds(name, values[0])
			if err != nil {
				wrong.Join(err)
				continue
			}
			values = []string{strconv.FormatInt(n, 10)}
		}
		out[name] = values
	}
	return out
}

// decoder returns a decoder whose times are in a zone.
func decoder(zone *time.Location) *form.Decoder {
	d := form.NewDecoder()
	d.SetMaxArraySize(maxList)
	d.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return name
	})
	d.RegisterCustomTypeFunc(func(values []string) (any, error) {
		for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
			if at, err := time.ParseInLocation(layout, values[0], zone); err == nil {
				return at, nil
			}
		}
		return time.Time{}, fault.Invalidf("", "must be a time such as 2026-01-31T22:00")
	}, time.Time{})
	d.RegisterCustomTypeFunc(func(values []string) (any, error) {
		out := listed(values)
		if len(out) > maxList {
			return nil, fault.Invalidf("", "can have at most %d entries", maxList)
		}
		return out, nil
	}, []string{})
	return d
}

// listed returns the texts of a list.
func listed(values []string) (out []string) {
	for _, text := range values {
		for _, one := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("\r\n,", c) }) {
			if one = strings.TrimSpace(one); one != "" {
				out = append(out, one)
			}
		}
	}
	return out
}

// problem says what is wrong with a value: in the words of Decode, or instead of those of the library.
func problem(err error) string {
	if fault.Is(err, fault.Invalid) {
		return fault.Public(err)
	}
	for begin, text := range map[string]string{"Invalid Integer": "must be a whole number", "Invalid Unsigned": "must be a whole number, 0 or more",
		"Invalid Float": "must be a number", "Invalid Boolean": "must be true or false", "Array size": "has too many entries"} {
		if strings.HasPrefix(err.Error(), begin) {
			return text
		}
	}
	return "cannot be read"
}
