package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"
)

// moduleDirs hold the scripts that import each other by their plain names. The addresses of a folder contain the hash
// of all its files, so that no build step has to rewrite an import.
var moduleDirs = [...]string{"oncall", "console"}

type asset struct {
	contentType  string
	body         func() []byte
	brotli, gzip func() []byte // the compressed body; nil = it is too small or compressed already
}

// assets serves files under addresses that contain their hash, so that browsers may cache them for ever. Each file is
// minified and compressed once, when it is first requested.
type assets map[string]asset

// readAssets reads the folder "static" of files.
func (p *Pages) readAssets(files fs.FS) error {
	static, err := fs.Sub(files, "static")
	if err != nil {
		return err
	}
	modules := map[string]string{}
	for _, dir := range moduleDirs {
		if modules[dir], err = modulesHash(static, dir); err != nil {
			return err
		}
	}
	served := assets{}
	p.Assets, p.names = served, map[string]string{}
	add := func(name string, body []byte) {
		sum := sha256.Sum256(body)
		ext := path.Ext(name)
		address := "/static/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		if dir, inner, _ := strings.Cut(name, "/"); modules[dir] != "" {
			address = "/static/" + dir + "." + modules[dir] + "/" + inner
		}
		p.names[name] = address
		served[address] = newAsset(body, ext, !strings.HasPrefix(name, "vendor/"))
		if strings.HasPrefix(name, "images/") { // the addresses of Iris's icon
			served["/static/"+name] = served[address]
			served["/static/images/favicon"+ext] = served[address]
		}
	}
	sheets := map[string][]byte{} // of ours; they name other files, so they are added last
	err = fs.WalkDir(static, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(static, name)
		if err == nil && path.Ext(name) == ".css" && path.Dir(name) == "." {
			sheets[name] = body
		} else if err == nil {
			add(name, body)
		}
		return err
	})
	for name, body := range sheets {
		add(name, p.linked(body))
	}
	return err
}

// named finds the files that a style sheet names.
var named = regexp.MustCompile(`url\("([^"]+)"\)`)

// linked replaces the names of files in a style sheet by their addresses.
func (p *Pages) linked(sheet []byte) []byte {
	return named.ReplaceAllFunc(sheet, func(m []byte) []byte {
		return fmt.Appendf(nil, "url(%q)", p.Asset(string(named.FindSubmatch(m)[1])))
	})
}

// contentTypes are those that the system may not know.
var contentTypes = map[string]string{".woff2": "font/woff2"}

// minifiers are by the ending of the file.
var minifiers = map[string]minify.MinifierFunc{".js": js.Minify, ".css": css.Minify}

// smallest is the size in bytes from which a file is compressed.
const smallest = 512

// newAsset returns a file. minified: comments and blanks are left out of scripts and styles.
func newAsset(source []byte, ext string, minified bool) asset {
	a := asset{body: func() []byte { return source }, contentType: cmp.Or(contentTypes[ext], mime.TypeByExtension(ext),
		"text/plain; charset=utf-8")} // licences have an ending of their own
	if minify := minifiers[ext]; minify != nil && minified {
		a.body = sync.OnceValue(func() []byte {
			var b bytes.Buffer
			if err := minify(nil, &b, bytes.NewReader(source), nil); err != nil {
				return source // the browser reports what is wrong
			}
			return b.Bytes()
		})
	}
	if len(source) >= smallest && ext != ".png" && ext != ".woff2" {
		a.brotli = sync.OnceValue(func() []byte {
			return compressed(a.body(), func(w io.Writer) io.WriteCloser {
				return brotli.NewWriterLevel(w,
					brotli.BestCompression)
			})
		})
		a.gzip = sync.OnceValue(func() []byte {
			return compressed(a.body(), func(w io.Writer) io.WriteCloser {
				z, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // the level is valid
				return z
			})
		})
	}
	return a
}

func compressed(body []byte, writer func(io.Writer) io.WriteCloser) []byte {
	var b bytes.Buffer
	w := writer(&b)
	_, _ = w.Write(body) // writes to a buffer do not fail
	_ = w.Close()
	return b.Bytes()
}

func modulesHash(static fs.FS, dir string) (string, error) {
	h := sha256.New()
	err := fs.WalkDir(static, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(static, name)
		_, _ = fmt.Fprintf(h, "%s %d\n%s", name, len(body), body)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)[:6]), err
}

// Asset returns the address of a static file.
func (p *Pages) Asset(name string) string {
	if address, ok := p.names[name]; ok {
		return address
	}
	return "/static/missing-" + name
}

func (a assets) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	f, ok := a[r.URL.Path]
	if !ok {
		http.NotFound(rw, r)
		return
	}
	h := rw.Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", f.contentType)
	if f.brotli != nil {
		h.Set("Vary", "Accept-Encoding")
		if coding, body := f.coded(r.Header.Get("Accept-Encoding")); coding != "" && r.Header.Get("Range") == "" {
			h.Set("Content-Encoding", coding)
			h.Set("Content-Length", strconv.Itoa(len(body)))
			if r.Method != http.MethodHead {
				_, _ = rw.Write(body)
			}
			return
		}
	}
	http.ServeContent(rw, r, "", time.Time{}, bytes.NewReader(f.body()))
}

// coded returns the smallest form of a file that the client accepts; "" = only the plain one. A coding with q=0 is
// refused (RFC 9110, 12.5.3).
func (a asset) coded(accepted string) (coding string, body []byte) {
	accepts := map[string]bool{}
	for _, part := range strings.Split(accepted, ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		weight, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(q), "q="), 64)
		accepts[strings.TrimSpace(name)] = err != nil || weight > 0
	}
	switch {
	case accepts["br"]:
		return "br", a.brotli()
	case accepts["gzip"]:
		return "gzip", a.gzip()
	}
	return "", nil
}
