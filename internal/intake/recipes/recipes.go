package recipes

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/jinja"
)

// Recipe describes how to read the payloads of one sender.
type Recipe struct {
	Name  string `yaml:"name"`  // lower case; the file is NAME.yaml
	Label string `yaml:"label"` // for people
	About string `yaml:"about"` // what the sender sends, and how
	// Setup tells people how to configure the sender. Pages replace ADDRESS (without the token), WITHTOKEN (with it) and
	// TOKEN. MailSetup is the same for mails; TOKEN@DOMAIN is the address. "" = no set-up is needed.
	Setup     string `yaml:"setup"`
	MailSetup string `yaml:"mail_setup"`
	// Webhook and Mail are the shapes of its payloads. The first that fits is used.
	Webhook []Shape `yaml:"webhook"`
	Mail    []Shape `yaml:"mail"`
	// Unresolved explains why the sender never reports the end of an alert. If it is empty, a sample must have a resolved
	// event.
	Unresolved string   `yaml:"unresolved"`
	Samples    []Sample `yaml:"samples"`
}

// Shape is one form of a payload.
type Shape struct {
	// Fits maps the path of a member, such as alert.labels.host, to a regular expression. A payload has this shape if every
	// expression matches. "" only requires that the member is present. A number in a path is an index of a list, from 0.
	// Named groups are members of the variable match.
	Fits map[string]string `yaml:"fits"`
	// Inside is the path of the inner payload, an object; "" = there is no envelope. If another recipe recognises the inner
	// payload, that recipe is used, otherwise this one.
	Inside string `yaml:"inside"`

	intake.Expressions `yaml:",inline"`

	patterns []pattern
}

// pattern is an entry of Fits; a nil expression = the member is present.
type pattern struct {
	path string
	re   *regexp.Regexp
}

// Sample is a delivery of the sender, with the events that it must produce.
type Sample struct {
	Name        string     `yaml:"name"`
	From        string     `yaml:"from"` // where the sample comes from: the sender's documentation, its source, a real run
	Mail        bool       `yaml:"mail"` // the body is a mail
	ContentType string     `yaml:"content_type"`
	At          time.Time  `yaml:"at"` // when it arrived; zero = now
	Body        string     `yaml:"body"`
	Events      []Expected `yaml:"events"` // none = the delivery says nothing about an alert
}

// Expected is one event that a sample must produce. Fields that are left out are not compared.
type Expected struct {
	Status   intake.Status     `yaml:"status"`
	Severity intake.Severity   `yaml:"severity"`
	Key      string            `yaml:"key"`
	Title    string            `yaml:"title"`
	Summary  string            `yaml:"summary"`
	Link     string            `yaml:"link"`
	Labels   map[string]string `yaml:"labels"`
}

// Bounds of a folder with recipes.
const (
	maxRecipes = 500
	maxFile    = 256 << 10 // bytes
	maxShapes  = 20
	maxSamples = 50
)

//go:embed senders/*.yaml
var embedded embed.FS

// Builtin returns the built-in recipes. It parses all files, so a program calls it once. It panics if one is wrong.
func Builtin() *Book {
	files, err := fs.Sub(embedded, "senders")
	book := &Book{byName: map[string]*Recipe{}}
	if err == nil {
		err = book.add(files)
	}
	if err != nil {
		panic(err) // a test reads all of them
	}
	return book
}

// Book is a set of recipes. It is safe for concurrent use.
type Book struct {
	byName map[string]*Recipe
	sorted []*Recipe // by name
}

// With returns the recipes of b and those in the YAML files of a folder, which replace those of the same name. An error
// names the file.
func (b *Book) With(folder string) (*Book, error) {
	if folder == "" {
		return b, nil
	}
	out := &Book{byName: map[string]*Recipe{}}
	maps.Copy(out.byName, b.byName)
	return out, out.add(os.DirFS(folder))
}

func (b *Book) add(files fs.FS) error {
	names, err := fs.Glob(files, "*.yaml")
	if err == nil && len(names) == 0 {
		_, err = fs.Stat(files, ".")
	}
	if err != nil {
		return fmt.Errorf("recipes: %w", err)
	}
	if len(names) > maxRecipes {
		return fmt.Errorf("recipes: there are more than %d files", maxRecipes)
	}
	for _, name := range names {
		raw, err := fs.ReadFile(files, name)
		if err == nil && len(raw) > maxFile {
			err = fmt.Errorf("the file has more than %d bytes", maxFile)
		}
		var r *Recipe
		if err == nil {
			r, err = Parse(raw)
		}
		if err == nil && r.Name != strings.TrimSuffix(name, path.Ext(name)) {
			err = fmt.Errorf("the name is %.60q and must be the file name without .yaml", r.Name)
		}
		if err != nil {
			return fmt.Errorf("recipe %s: %w", name, err)
		}
		b.byName[r.Name] = r
	}
	b.sorted = slices.SortedFunc(maps.Values(b.byName), func(x, y *Recipe) int { return cmp.Compare(x.Name, y.Name) })
	return nil
}

// All returns the recipes by name. Callers must not change them.
func (b *Book) All() []*Recipe { return b.sorted }

// Named returns a recipe; false = there is none.
func (b *Book) Named(name string) (*Recipe, bool) {
	r, ok := b.byName[name]
	return r, ok
}

// Names returns the names, sorted.
func (b *Book) Names() []string { return slices.Sorted(maps.Keys(b.byName)) }

var goodName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,59}$`)

// Parse reads a recipe.
func Parse(raw []byte) (*Recipe, error) {
	var r Recipe
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(&r); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	for _, shapes := range [][]Shape{r.Webhook, r.Mail} {
		for k := range shapes {
			if err := shapes[k].compile(); err != nil {
				return nil, fmt.Errorf("shape %d: %w", k+1, err)
			}
		}
	}
	return &r, nil
}

// check returns an error if something is missing.
func (r *Recipe) check() error {
	switch {
	case !goodName.MatchString(r.Name) || r.Name == intake.NoRecipe:
		return errors.New("the name must be lower-case letters, digits and _")
	case r.Label == "" || r.About == "":
		return errors.New("label and about are required")
	case len(r.Webhook)+len(r.Mail) == 0 || len(r.Webhook)+len(r.Mail) > maxShapes:
		return fmt.Errorf("a recipe has 1 to %d shapes below webhook and mail", maxShapes)
	case len(r.Samples) > maxSamples:
		return fmt.Errorf("a recipe has at most %d samples", maxSamples)
	}
	fires, resolves := map[bool]bool{}, map[bool]bool{}
	for _, s := range r.Samples {
		if s.Name == "" || s.From == "" || s.Body == "" {
			return errors.New("each sample needs a name, a body, and from: its origin")
		}
		for _, e := range s.Events {
			fires[s.Mail] = fires[s.Mail] || e.Status == intake.Firing
			resolves[s.Mail] = resolves[s.Mail] || e.Status == intake.Resolved
		}
	}
	for mail, shapes := range map[bool][]Shape{false: r.Webhook, true: r.Mail} {
		switch {
		case len(shapes) > 0 && !fires[mail]:
			return errors.New("it has shapes below webhook or mail without a sample of a firing alert: add one")
		case len(shapes) > 0 && !resolves[mail] && r.Unresolved == "":
			return errors.New("it has shapes below webhook or mail without a sample of a resolved alert: add one, or explain in unresolved why there is none")
		}
	}
	return nil
}

// compile reads the expressions of a shape.
func (s *Shape) compile() error {
	if len(s.Fits) == 0 {
		return errors.New("fits is required: add at least one pattern that recognises the payload")
	}
	if s.Recipe != "" {
		return errors.New("remove recipe from the shape: only the settings of an integration have it")
	}
	for _, at := range slices.Sorted(maps.Keys(s.Fits)) {
		p := pattern{path: at}
		if source := s.Fits[at]; source != "" {
			var err error
			if p.re, err = regexp.Compile(source); err != nil {
				return fmt.Errorf("fits.%s: %w", at, err)
			}
		}
		s.patterns = append(s.patterns, p)
	}
	return s.Compile()
}

// maxSubject is how much of a text an expression of Fits sees, in bytes.
const maxSubject = 64 << 10

// fit reports whether a payload has the shape, and returns the named groups and the paths.
func (s *Shape) fit(payload jinja.Vars) (groups []jinja.Field, paths []string, ok bool) {
	for _, p := range s.patterns {
		text, present := payload.At(p.path)
		if !present {
			return nil, nil, false
		}
		paths = append(paths, p.path)
		if p.re == nil {
			continue
		}
		found := p.re.FindStringSubmatch(text[:min(len(text), maxSubject)])
		if found == nil {
			return nil, nil, false
		}
		for k, name := range p.re.SubexpNames() {
			if name != "" {
				groups = append(groups, jinja.Field{Name: name, Value: found[k]})
			}
		}
	}
	return groups, paths, true
}
