package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// moduleDirs hold the scripts that import each other by their plain names. The addresses of a folder contain the hash of all its files, so
// that no build step has to rewrite an import.
var moduleDirs = [...]string{"oncall", "console"}

type asset struct {
	body        []byte
	contentType string
}

// assets serves files under addresses that contain their hash, so that browsers may cache them for ever.
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
	return fs.WalkDir(static, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(static, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(name)
		address := "/static/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		if dir, inner, _ := strings.Cut(name, "/"); modules[dir] != "" {
			address = "/static/" + dir + "." + modules[dir] + "/" + inner
		}
		p.names[name] = address
		kind := mime.TypeByExtension(ext)
		if kind == "" { // licences
			kind = "text/plain; charset=utf-8"
		}
		served[address] = asset{body, kind}
		if strings.HasPrefix(name, "images/") { // the addresses of Iris's icon
			served["/static/"+name] = served[address]
			served["/static/images/favicon"+ext] = served[address]
		}
		return nil
	})
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
	rw.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	rw.Header().Set("X-Content-Type-Options", "nosniff")
	rw.Header().Set("Content-Type", f.contentType)
	http.ServeContent(rw, r, "", time.Time{}, bytes.NewReader(f.body))
}
