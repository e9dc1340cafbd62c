package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"go.uber.org/zap"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// frame is the data of every page.
type frame struct {
	Title   string
	Section string // of the navigation
	User    string
	// ReadOnly: the reader may change nothing, so no buttons are shown.
	ReadOnly bool
	Admin    bool // the reader administers everything
	Flash    string
	Mailbox  bool
	Zone     string // zone of shown times; "" = the reader has chosen none
	// Scripts of the on-call pages; nil elsewhere.
	Scripts *scripts
}

// scripts are the scripts of a calendar page, and the token for their requests.
type scripts struct {
	Main  string // in static/oncall
	Grid  bool   // the page draws a calendar
	Token string
}

// live is a part of a page that refreshes itself: the browser requests Self again and sends the hash it has Seen.
type live struct {
	Self string
	Seen string
	Body template.HTML
}

type views struct {
	t      *template.Template
	assets http.Handler
	names  map[string]string // file -> hashed path
}

func newViews() (*views, error) {
	v := &views{names: map[string]string{}}
	files := map[string]asset{} // hashed path -> content
	modules, err := modulesHash(staticFiles)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(staticFiles, "static", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := staticFiles.ReadFile(p)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(p, "static/")
		sum := sha256.Sum256(body)
		ext := path.Ext(name)
		hashed := "/static/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		if inner, ok := strings.CutPrefix(name, moduleDir+"/"); ok {
			hashed = "/static/" + moduleDir + "." + modules + "/" + inner
		}
		v.names[name] = hashed
		files[hashed] = asset{body: body, kind: mime.TypeByExtension(ext)}
		if strings.HasPrefix(name, "images/") { // where Iris has its icon
			files["/static/"+name] = files[hashed]
			files["/static/images/favicon"+ext] = files[hashed]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	v.assets = assets(files)
	v.t, err = template.New("").Funcs(template.FuncMap{
		"asset":       v.asset,
		"utc":         func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") },
		"clock":       func(t time.Time) string { return t.UTC().Format("2 Jan 15:04:05") },
		"assumptions": func() []assumption { return assumptions },
		"ago":         func(t time.Time) string { return ago(time.Since(t)) },
	}).ParseFS(templateFiles, "templates/*.html")
	return v, err
}

// moduleDir holds the scripts that import each other by their plain names. They are served together under a directory
// whose name contains the hash of all of them, so that no build step has to rewrite an import.
const moduleDir = "oncall"

func modulesHash(files fs.FS) (string, error) {
	h := sha256.New()
	err := fs.WalkDir(files, "static/"+moduleDir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(files, p)
		_, _ = fmt.Fprintf(h, "%s %d\n%s", p, len(body), body)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)[:6]), err
}

// Asset returns the address of an embedded file, for pages of other packages that share the look.
func (w *Web) Asset(name string) string { return w.views.asset(name) }

func (v *views) asset(name string) string {
	if p, ok := v.names[name]; ok {
		return p
	}
	return "/static/missing-" + name
}

type asset struct {
	body []byte
	kind string
}

// assets serves files under names that contain their hash, so that they can be kept for ever.
type assets map[string]asset

func (a assets) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	f, ok := a[r.URL.Path]
	if !ok {
		http.NotFound(rw, r)
		return
	}
	rw.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	rw.Header().Set("X-Content-Type-Options", "nosniff")
	rw.Header().Set("Content-Type", f.kind)
	http.ServeContent(rw, r, "", time.Time{}, bytes.NewReader(f.body))
}

// page renders a whole page before anything is sent, so that a failing template gives an error page.
func (v *views) page(rw http.ResponseWriter, r *http.Request, log *zap.Logger, status int, name string, data any) {
	var b bytes.Buffer
	if err := v.t.ExecuteTemplate(&b, name, data); err != nil {
		log.Error("page cannot be rendered", zap.String("page", name), zap.Error(err))
		http.Error(rw, "This page cannot be shown. The log of the server has the reason.", http.StatusInternalServerError)
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = rw.Write(b.Bytes())
	}
}

// live renders a part that refreshes itself. When the browser asks for just that part, it answers here (204 when nothing
// changed) and returns false; otherwise the caller shows the whole page around it.
func (v *views) live(rw http.ResponseWriter, r *http.Request, log *zap.Logger, name string, data any) (live, bool) {
	var b bytes.Buffer
	if err := v.t.ExecuteTemplate(&b, name, data); err != nil {
		log.Error("page cannot be rendered", zap.String("page", name), zap.Error(err))
		http.Error(rw, "This page cannot be shown. The log of the server has the reason.", http.StatusInternalServerError)
		return live{}, false
	}
	h := fnv.New64a()
	_, _ = h.Write(withoutAges(b.Bytes()))
	l := live{Self: r.URL.RequestURI(), Seen: fmt.Sprintf("%016x", h.Sum64()), Body: template.HTML(b.String())} // rendered by html/template
	if r.Header.Get("HX-Request") == "" {
		return l, true
	}
	if r.Header.Get("X-Seen") == l.Seen {
		rw.WriteHeader(http.StatusNoContent)
		return live{}, false
	}
	v.page(rw, r, log, http.StatusOK, "live", l)
	return live{}, false
}

// withoutAges removes the texts of ages. The browser updates them, so they are no reason to send a part again.
func withoutAges(b []byte) []byte {
	var out []byte
	for {
		i := bytes.Index(b, []byte(`data-as="age">`))
		if i < 0 {
			return append(out, b...)
		}
		i += len(`data-as="age">`)
		out = append(out, b[:i]...)
		b = b[i:]
		if j := bytes.IndexByte(b, '<'); j >= 0 {
			b = b[j:]
		}
	}
}

// ago formats a duration as the pages' script does.
func ago(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d d", int(d.Hours())/24)
	}
}
