package messages

import (
	"errors"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/jinja"
)

const (
	maxCachedTemplates = 4096
	maxCachedSource    = 8 << 20 // bytes
	// maxRendered is how many bytes a template may print: enough for every uncut body.
	maxRendered = 4*MaxBody + 4096
	strikes     = 3 // renderings in a row that exceeded a limit, after which a template is suspended
	putAside    = 30 * time.Second
)

// templateCache caches compiled templates. It also suspends templates that keep exceeding the engine's limits, so that
// they do not cost time again and again (promise P7). It is safe for concurrent use.
type templateCache struct {
	compiled *cache.Cache[cacheKey, *cachedTemplate]
	mu       sync.Mutex // guards limited and until of the templates
}

type cacheKey struct {
	source string
	marks  jinja.Marks
}

type cachedTemplate struct {
	template *jinja.Template
	err      error

	// guarded by the cache's mutex
	limited int       // limits exceeded in a row
	until   time.Time // suspended until then
}

var errSuspended = errors.New("it exceeded the engine's limits several times and is suspended for a while")

func newTemplateCache() *templateCache {
	return &templateCache{compiled: cache.New(cache.Config[cacheKey, *cachedTemplate]{
		TTL: cache.Forever, Entries: maxCachedTemplates, MaxWeight: maxCachedSource,
		Weigh: func(k cacheKey, _ *cachedTemplate) int { return len(k.source) },
	})}
}

func (c *templateCache) entry(src string, marks jinja.Marks) *cachedTemplate {
	key := cacheKey{src, marks}
	if e, ok := c.compiled.Lookup(key); ok {
		return e
	}
	t, err := jinja.CompileWith(src, jinja.Options{Limits: jinja.Limits{Output: maxRendered}, Marks: marks,
		Metadata: "iris", MetadataTitle: "title"})
	e := &cachedTemplate{template: t, err: err}
	c.compiled.Put(key, e)
	return e
}

// compile returns the compiled template of a source.
func (c *templateCache) compile(src string) (*jinja.Template, error) {
	e := c.entry(src, jinja.NoMarks)
	return e.template, e.err
}

// render renders a source; see jinja.Template.RenderInformative. If the output exceeds maxRendered, it returns the
// output so far, which is longer than any body, and no error.
func (c *templateCache) render(src string, marks jinja.Marks, vars jinja.Vars) (out string, informative bool, err error) {
	e := c.entry(src, marks)
	if e.err != nil {
		return "", false, e.err
	}
	c.mu.Lock()
	aside := time.Now().Before(e.until)
	c.mu.Unlock()
	if aside {
		return "", false, errSuspended
	}
	out, informative, err = e.template.RenderInformative(vars)
	var fault *jinja.Error
	limited := errors.As(err, &fault) && fault.Limited()
	if limited && fault.Truncated {
		return out, informative, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !limited {
		e.limited = 0
		return out, informative, err
	}
	if e.limited++; e.limited >= strikes {
		e.limited, e.until = 0, time.Now().Add(putAside)
	}
	return out, informative, err
}
