package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	yamlparser "github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Problem is an error or a warning about the configuration.
type Problem struct {
	Where   string // "iris.yaml line 7 (smtp[0].addr)", "IRIS_SMTP_ADDR", or only the key if it is missing
	Message string
}

func (p Problem) Error() string { return p.Where + ": " + p.Message }

// Config is a loaded configuration whose values are not checked yet. API, Processor, Directory and Database check what
// their caller needs.
type Config struct {
	file   file
	loader *loader
}

// loader collects problems and remembers where each key is set.
type loader struct {
	origin   map[string]string // by path, such as "smtp[0].addr"
	problems []Problem
	warnings []Problem
	broken   map[string]bool // paths whose value could not be read; that is reported once
}

func (l *loader) problem(where, format string, args ...any) {
	l.problems = append(l.problems, Problem{where, fmt.Sprintf(format, args...)})
}

func (l *loader) warning(where, format string, args ...any) {
	w := Problem{where, fmt.Sprintf(format, args...)}
	if !slices.Contains(l.warnings, w) { // the checks of both servers share parts
		l.warnings = append(l.warnings, w)
	}
}

// err joins the problems in the order of the checks.
func (l *loader) err() error {
	errs := make([]error, len(l.problems))
	for i, p := range l.problems {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// delimiter joins keys inside koanf. It is a control character, because application names may contain dots.
const delimiter = "\x1f"

// Load reads the file ("" = none) and overrides it with the environment, which has the form of os.Environ. The error
// joins all problems: unknown keys, values of the wrong type, unreadable files. Unless the file cannot be read, Load
// returns what it understood with the error, so that the caller can check the rest.
func Load(path string, environ []string) (*Config, error) {
	l := &loader{origin: map[string]string{}, broken: map[string]bool{}}
	values := map[string]any{}
	if path != "" {
		raw, err := readFile(path)
		if err != nil {
			return nil, fmt.Errorf("read the configuration: %w", err)
		}
		if values, err = l.parse(path, raw); err != nil {
			return nil, err
		}
	}
	l.secretFiles(values, reflect.TypeFor[file](), "")
	l.overlay(values, environ)
	c := &Config{loader: l}
	l.unknownKeys(values, reflect.TypeFor[file](), "")
	l.decode(values, &c.file)
	c.file.PhoneRegion = cmp.Or(c.file.PhoneRegion, c.file.Sync.PhoneRegion) // sync.phone_region is its old name
	c.file.Sync.PhoneRegion = c.file.PhoneRegion
	return c, l.err()
}

// maxFile is the maximum size of a file in bytes, far above any configuration. A longer file was given by mistake.
const maxFile = 1 << 20

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = fmt.Errorf("%s is longer than %d KiB: it cannot be a configuration", path, maxFile>>10)
	}
	return raw, err
}

func (l *loader) parse(path string, raw []byte) (map[string]any, error) {
	var doc yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(raw))
	if err := documents.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w%s", path, err, tabHint(err))
	}
	var more yaml.Node
	if err := documents.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: contains more than one document; remove the line \"---\" between them", path)
	}
	if len(doc.Content) == 1 {
		if doc.Content[0].Kind != yaml.MappingNode {
			return nil, fmt.Errorf("%s: must contain keys and values, such as \"public_url: https://iris.example.com\"", path)
		}
		l.noteLines(path, "", doc.Content[0])
	}
	values, err := yamlparser.Parser().Unmarshal(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if values == nil {
		values = map[string]any{}
	}
	return values, nil
}

// tabHint explains YAML's error about a character that cannot start a token.
func tabHint(err error) string {
	if strings.Contains(err.Error(), "cannot start any token") {
		return "; indent YAML with spaces, not with tabs, and quote texts that begin with @, ` or %"
	}
	return ""
}

// noteLines records the line of each key of the file.
func (l *loader) noteLines(name, path string, node *yaml.Node) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := join(path, node.Content[i].Value)
			l.origin[key] = fmt.Sprintf("%s line %d (%s)", name, node.Content[i].Line, key)
			l.noteLines(name, key, node.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			key := path + "[" + strconv.Itoa(i) + "]"
			l.origin[key] = fmt.Sprintf("%s line %d (%s)", name, item.Line, key)
			l.noteLines(name, key, item)
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// where returns where a key is set. For a missing key it returns the key and its environment variable.
func (l *loader) where(path string) string {
	if o, ok := l.origin[path]; ok {
		return o
	}
	if single := strings.Replace(path, "[0]", "", 1); l.origin[single] != "" {
		return l.origin[single]
	}
	for _, v := range variables {
		if v.path == path {
			return path + " (" + v.name + ")"
		}
	}
	return path
}

// secretFiles replaces "key_file: PATH" by the content of the file, for every key that is a secret.
func (l *loader) secretFiles(values map[string]any, t reflect.Type, path string) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("koanf")
		if tag == ",squash" {
			l.secretFiles(values, field.Type, path)
			continue
		}
		at := join(path, tag)
		switch {
		case field.Type == reflect.TypeFor[Secret]():
			l.secretFile(values, tag, at)
		case field.Type.Kind() == reflect.Struct:
			if inner, ok := values[tag].(map[string]any); ok {
				l.secretFiles(inner, field.Type, at)
			}
		case field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct:
			switch inner := values[tag].(type) {
			case map[string]any: // a single account written without a dash
				l.secretFiles(inner, field.Type.Elem(), at)
			case []any:
				for n, item := range inner {
					if m, ok := item.(map[string]any); ok {
						l.secretFiles(m, field.Type.Elem(), at+"["+strconv.Itoa(n)+"]")
					}
				}
			}
		}
	}
}

func (l *loader) secretFile(values map[string]any, key, at string) {
	name, ok := values[key+"_file"].(string)
	if !ok {
		return
	}
	delete(values, key+"_file")
	where := l.where(at + "_file")
	l.broken[at] = true
	if values[key] != nil {
		l.problem(where, "both %s and %s_file are set; remove one", key, key)
		return
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		l.problem(where, "%v", err)
		return
	}
	values[key] = strings.TrimRight(string(raw), "\r\n")
	l.origin[at] = where
	delete(l.broken, at)
}

func (l *loader) decode(values map[string]any, out *file) {
	k := koanf.New(delimiter)
	if err := k.Load(confmap.Provider(values, ""), nil); err != nil {
		l.problem("configuration", "%v", err)
		return
	}
	err := k.UnmarshalWithConf("", out, koanf.UnmarshalConf{DecoderConfig: &mapstructure.DecoderConfig{
		WeaklyTypedInput: true,
		MatchName:        func(mapKey, fieldName string) bool { return mapKey == fieldName },
		DecodeHook: mapstructure.ComposeDecodeHookFunc(
			durationHook, mapstructure.TextUnmarshallerHookFunc()),
	}})
	l.decodeErrors(err)
}

// durationHook parses durations, which may be in days. It refuses durations and rates without a unit.
func durationHook(from, to reflect.Type, value any) (any, error) {
	if to == reflect.TypeFor[Rate]() && from.Kind() != reflect.String {
		return nil, fmt.Errorf("%v needs a unit, such as 10/s, 600/min or 1000/h", value)
	}
	if to != reflect.TypeFor[time.Duration]() {
		return value, nil
	}
	if from.Kind() != reflect.String {
		return nil, fmt.Errorf("%v needs a unit, such as 30s, 5m, 12h or 90d", value)
	}
	text := strings.TrimSpace(fmt.Sprint(value))
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a duration; write it like 30s, 5m, 12h or 90d", text)
	}
	return d, nil
}

// quoted matches the prefix of mapstructure's errors.
var quoted = regexp.MustCompile(`^'[^']*' `)

// mapKey matches a map key in a path of mapstructure, such as "modes[sms]".
var mapKey = regexp.MustCompile(`\[([^\]]*[^\]0-9][^\]]*)\]`)

// decodeErrors reports the innermost errors of the decoder's error tree; they have the full path.
func (l *loader) decodeErrors(err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			l.decodeErrors(e)
		}
		return
	}
	var one, deeper *mapstructure.DecodeError
	switch inner := errors.Unwrap(err); {
	case err == nil:
	case inner != nil && errors.As(inner, &deeper):
		l.decodeErrors(inner)
	case errors.As(err, &one):
		path := mapKey.ReplaceAllString(one.Name(), ".$1")
		l.broken[path] = true
		l.problem(l.where(path), "%s", wrongKind(one.Unwrap()))
	default:
		l.problem("configuration", "%v", err)
	}
}

// wrongKind returns a message about a value of the wrong type. It does not contain the value, which may be a secret.
func wrongKind(err error) string {
	var parse *mapstructure.ParseError
	var kind *mapstructure.UnconvertibleTypeError
	switch message := quoted.ReplaceAllString(err.Error(), ""); {
	case errors.As(err, &parse) && parse.Expected.Kind() == reflect.Bool:
		return "must be true or false"
	case errors.As(err, &parse) && parse.Expected.CanInt():
		return "must be a whole number"
	case errors.As(err, &kind):
		return "must be a single value, not a list or a section"
	case strings.HasPrefix(message, "expected a map"):
		return "must be a section with keys"
	default:
		return strings.TrimPrefix(message, "error decoding: ")
	}
}

// unknownKeys reports keys that type t does not have.
func (l *loader) unknownKeys(value any, t reflect.Type, path string) {
	switch t.Kind() {
	case reflect.Slice:
		if list, ok := value.([]any); ok {
			for i, item := range list {
				l.unknownKeys(item, t.Elem(), path+"["+strconv.Itoa(i)+"]")
			}
		} else { // a single account written without a dash
			l.unknownKeys(value, t.Elem(), path)
		}
	case reflect.Map:
		if m, ok := value.(map[string]any); ok {
			for _, key := range slices.Sorted(maps.Keys(m)) {
				l.unknownKeys(m[key], t.Elem(), join(path, key))
			}
		}
	case reflect.Struct:
		m, ok := value.(map[string]any)
		if !ok {
			return
		}
		fields := keys(t)
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if field, ok := fields[key]; ok {
				l.unknownKeys(m[key], field, join(path, key))
			} else {
				known := slices.Sorted(maps.Keys(fields))
				l.problem(l.where(join(path, key)), "unknown key %s%s", key, fault.DidYouMean(key, known))
			}
		}
	}
}

// keys returns the keys of struct t, with the types of their values.
func keys(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		if tag := field.Tag.Get("koanf"); tag == ",squash" {
			maps.Copy(out, keys(field.Type))
		} else {
			out[tag] = field.Type
		}
	}
	return out
}

// ListLimit returns the size from which on a mailing list is not paged; 0 = no limit.
func (c *Config) ListLimit() int { return c.file.MailingLists.MaxMembers }

// DailyLimit returns how many calls and texts a person without a limit of their own gets on one day; 0 = no limit.
func (c *Config) DailyLimit() int { return c.file.QuietTime.CallsAndTextsPerDay }

// Retention returns how long finished messages are kept.
func (c *Config) Retention() time.Duration { return c.newCheck().history(c.file.History).Retention }

// CatchAllPlan returns the plan for alerts without a usable plan; "" = none.
func (c *Config) CatchAllPlan() string { return strings.TrimSpace(c.file.Intake.CatchAllPlan) }

// MailIntake reports whether an address for alert mails is configured.
func (c *Config) MailIntake() bool { return c.file.Intake.SMTP.Addr != "" }

// DatabaseURL returns the address of the configured database, or "".
func (c *Config) DatabaseURL() Secret { return c.file.Database.URL }

// Vendors reports which kinds of vendor accounts are configured.
func (c *Config) Vendors() (smtp, slack, twilio, webhook, push bool) {
	return len(c.file.SMTP) > 0, len(c.file.Slack) > 0, len(c.file.Twilio) > 0, len(c.file.Webhook) > 0, len(c.file.Push) > 0
}
