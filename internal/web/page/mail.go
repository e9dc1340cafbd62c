package page

import (
	"io"
	"net/http"
)

// mailPolicy allows the HTML of an e-mail only its own styles and embedded pictures. It runs no script and loads
// nothing.
const mailPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

const mailHead = `<!doctype html><meta charset="utf-8">` +
	`<style>body{font:15px/1.5 system-ui,sans-serif;margin:12px;color:#1b2430;background:#fff;overflow-wrap:anywhere}</style>`

// Mail answers with the HTML of an e-mail, for a sandboxed frame. A frame with srcdoc would inherit the policy of its
// page.
func Mail(rw http.ResponseWriter, html string) {
	rw.Header().Set("Content-Security-Policy", mailPolicy)
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(rw, mailHead+html)
}
