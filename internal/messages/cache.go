package messages

import (
	"container/list"
	"errors"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/jinja"
)

const (
	maxCachedTemplates = 4096
	maxCachedSource    = 8 << 20 // bytes
	// maxRendered is how many bytes a template may print: what every body that is not cut fits into.
	maxRendered = 4*MaxBody + 4096
	strikes     = 3 // renderings in a row that broke a bound, after which a template is put aside
	putAside    = 30 * time.Second
)

// templateCache keeps compiled templates, the least recently used go first. It also remembers templates that keep
// breaking the engine's bounds, so that they do not take its time again and again (promise P7). It is safe for
// concurrent use.
type templateCache struct {
	mu      sync.Mutex
	entries map[cacheKey]*list.Element
	order   *list.List // most recently used first
	size    int
}

type cacheKey struct {
	source string
	marks  jinja.Marks
}

type cachedTemplate struct {
	cacheKey
	template *jinja.Template
	err      error

	// guarded by the cache's mutex
	limited int       // bounds broken in a row
	until   time.Time // not tried before
}

var errPutAside = errors.New("it broke the engine's bounds several times and is not tried for a while")

func newTemplateCache() *templateCache {
	return &templateCache{entries: map[cacheKey]*list.Element{}, order: list.New()}
}

func (c *templateCache) entry(src string, marks jinja.Marks) *cachedTemplate {
	key := cacheKey{src, marks}
	c.mu.Lock()
	if el, ok := c.entries[key]; ok {
		c.order.MoveToFront(el)
		c.mu.Unlock()
		return el.Value.(*cachedTemplate)
	}
	c.mu.Unlock()
	t, err := jinja.CompileWith(src, jinja.Options{
		Limits: jinja.Limits{Output: maxRendered}, Marks: marks, Metadata: "iris", MetadataTitle: "title",
	})
	e := &cachedTemplate{cacheKey: key, template: t, err: err}
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.entries[key]; ok {
		return el.Value.(*cachedTemplate)
	}
	c.entries[key] = c.order.PushFront(e)
	c.size += len(src)
	for len(c.entries) > maxCachedTemplates || c.size > maxCachedSource {
		last := c.order.Back()
		old := c.order.Remove(last).(*cachedTemplate)
		delete(c.entries, old.cacheKey)
		c.size -= len(old.source)
	}
	return e
}

// compile returns the compiled template of a source.
func (c *templateCache) compile(src string) (*jinja.Template, error) {
	e := c.entry(src, jinja.NoMarks)
	return e.template, e.err
}

// render renders a source; see jinja.Template.RenderInformative. Output that grew too long is returned as far as it came; it is longer than any body then.
func (c *templateCache) render(src string, marks jinja.Marks, vars jinja.Vars) (out string, informative bool, err error) {
	e := c.entry(src, marks)
	if e.err != nil {
		return "", false, e.err
	}
	c.mu.Lock()
	aside := time.Now().Before(e.until)
	c.mu.Unlock()
	if aside {
		return "", false, errPutAside
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

// planCache remembers plan versions, which never change. It is safe for concurrent use.
type planCache struct {
	limit int

	mu    sync.Mutex
	plans map[int64]PlanWords
}

func newPlanCache(limit int) *planCache {
	return &planCache{limit: limit, plans: map[int64]PlanWords{}}
}

// get returns the known ones of the plans, and the ids of the others.
func (c *planCache) get(ids []int64) (known map[int64]PlanWords, missing []int64) {
	known = make(map[int64]PlanWords, len(ids))
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if p, ok := c.plans[id]; ok {
			known[id] = p
		} else {
			missing = append(missing, id)
		}
	}
	return known, missing
}

func (c *planCache) put(plans map[int64]PlanWords) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.plans)+len(plans) > c.limit {
		clear(c.plans)
	}
	for id, p := range plans {
		c.plans[id] = p
	}
}
