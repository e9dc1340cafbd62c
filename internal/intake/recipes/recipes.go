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

// Recipe says how the payloads of a sender are read.
type Recipe struct {
	Name  string `yaml:"name"`  // lower case, as the file
	Label string `yaml:"label"` // for people
	About string `yaml:"about"` // what the sender sends, and how
	// Setup says what to do in the sender. ADDRESS, WITHTOKEN and TOKEN stand for the address without and with the token
	// and for the token. MailSetup is the same for mails, TOKEN@DOMAIN is the address. "" = its mails need no setting.
	Setup     string `yaml:"setup"`
	MailSetup string `yaml:"mail_setup"`
	// Webhook and Mail are the shapes of its payloads. The first that fits is used.
	Webhook []Shape `yaml:"webhook"`
	Mail    []Shape `yaml:"mail"`
	// Unresolved says why the sender never says that an alert is over; "" = a sample shows how it does.
	Unresolved string   `yaml:"unresolved"`
	Samples    []Sample `yaml:"samples"`
}

// Shape is one form of a payload.
type Shape struct {
	// Fits has regular expressions by the path of a member (names with dots between them): a payload in which all of
	// them match has this shape. "" = the member is present. Named groups are members of the variable match. A mail has
	// the members subject, sender, body and headers.
	Fits map[string]string `yaml:"fits"`
	// Inside is the path of the member with the payload proper, an object; "" = there is none. If a recipe knows that
	// payload, it is used, else this one.
	Inside string `yaml:"inside"`

	intake.Expressions `yaml:",inline"`

	patterns []pattern
}

// pattern is an entry of Fits; a nil expression = the member is present.
type pattern struct {
	path string
	re   *regexp.Regexp
}

// Sample is a delivery of the sender, with the events that it stands for.
type Sample struct {
	Name        string     `yaml:"name"`
	From        string     `yaml:"from"` // where the sample comes from: the sender's documentation, its source, a real run
	Mail        bool       `yaml:"mail"` // the body is a mail
	ContentType string     `yaml:"content_type"`
	At          time.Time  `yaml:"at"` // when it arrived; zero = now
	Body        string     `yaml:"body"`
	Events      []Expected `yaml:"events"` // none = the delivery says nothing about an alert
}

// Expected is what a sample must become. Facts that are left out may be anything.
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

// Builtin reads the recipes of this program. A program does so once.
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
			err = fmt.Errorf("the name must be that of the file, and is %.60q", r.Name)
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

// Parse reads a recipe. An error says what is wrong with it.
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
			return errors.New("each sample has a name, a body, and from: where it comes from")
		}
		for _, e := range s.Events {
			fires[s.Mail] = fires[s.Mail] || e.Status == intake.Firing
			resolves[s.Mail] = resolves[s.Mail] || e.Status == intake.Resolved
		}
	}
	for mail, shapes := range map[bool][]Shape{false: r.Webhook, true: r.Mail} {
		switch {
		case len(shapes) > 0 && !fires[mail]:
			return errors.New("it has no sample of a firing alert for each door that it has shapes for")
		case len(shapes) > 0 && !resolves[mail] && r.Unresolved == "":
			return errors.New("it has no sample of a resolved alert for each door, and unresolved does not say why")
		}
	}
	return nil
}

// compile reads the expressions of a shape.
func (s *Shape) compile() error {
	if len(s.Fits) == 0 {
		return errors.New("fits is required: what the payload is recognised by")
	}
	if s.Recipe != "" {
		return errors.New("a shape names no recipe")
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

// maxSubject bounds the text that an expression of Fits reads, in bytes.
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
