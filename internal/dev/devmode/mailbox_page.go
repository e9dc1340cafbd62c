package devmode

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed mailbox
var mailboxFiles embed.FS

var mailboxPage = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"linked": linked, "framed": framed, "clock": func(t time.Time) string { return t.Local().Format("15:04:05") },
}).ParseFS(mailboxFiles, "mailbox/page.html"))

func (b *mailbox) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /dev/mailbox", b.page)
	mux.HandleFunc("GET /dev/mailbox/list", b.list)
	mux.HandleFunc("GET /dev/mailbox.json", b.json)
	mux.HandleFunc("POST /dev/mailbox/answer", b.post)
	for _, name := range []string{"mailbox.css", "mailbox.js"} {
		mux.HandleFunc("GET /dev/mailbox/"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeFileFS(w, r, mailboxFiles, "mailbox/"+name)
		})
	}
	return mux
}

// pagePolicy permits only the page's own script. E-mails contain inline styles; their scripts, forms and remote images
// are blocked, and their frame is sandboxed.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func (b *mailbox) page(w http.ResponseWriter, _ *http.Request) { b.render(w, "page.html") }

// list serves the part of the page that changes.
func (b *mailbox) list(w http.ResponseWriter, r *http.Request) {
	// The page polls. Without a change the answer is 304.
	state := `"` + b.state() + `"`
	w.Header().Set("ETag", state)
	if r.Header.Get("If-None-Match") == state {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	b.render(w, "list")
}

// state returns a value that changes with the list.
func (b *mailbox) state() string {
	log := b.vendors.Log()
	answers, spoken := 0, 0
	b.mu.Lock()
	for _, said := range b.said {
		answers += len(said)
	}
	b.mu.Unlock()
	for _, e := range log.Entries() {
		spoken += len(e.Spoken)
	}
	return fmt.Sprintf("%d-%d-%d", log.Last(), answers, spoken)
}

// shown is the most messages on the page, because each e-mail has a frame.
const shown = 100

func (b *mailbox) render(w http.ResponseWriter, name string) {
	var page bytes.Buffer
	letters := b.Letters()
	err := mailboxPage.ExecuteTemplate(&page, name, struct {
		Letters []letter
		More    int
		State   string
	}{letters[:min(len(letters), shown)], max(0, len(letters)-shown), b.state()})
	if err != nil {
		http.Error(w, "the page cannot be rendered", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	_, _ = page.WriteTo(w)
}

func (b *mailbox) json(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(b.Letters())
}

// post responds to a message. Only the mailbox's own page may do that.
func (b *mailbox) post(w http.ResponseWriter, r *http.Request) {
	same := r.Clone(r.Context())
	if host := r.Header.Get("X-Forwarded-Host"); host != "" {
		same.Host = host // other sites cannot set this header without a CORS preflight
	}
	if err := http.NewCrossOriginProtection().Check(same); err != nil {
		http.Error(w, "the request comes from another site", http.StatusForbidden)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	id, err := strconv.ParseInt(r.PostFormValue("id"), 10, 64)
	if err != nil {
		http.Error(w, "id must be the number of a message", http.StatusBadRequest)
		return
	}
	do, what := r.PostFormValue("do"), strings.TrimSpace(r.PostFormValue("what"))
	said, err := b.Answer(r.Context(), id, do, what)
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		out := map[string]string{"said": said}
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			out["error"] = err.Error()
		}
		_ = json.NewEncoder(w).Encode(out)
		return
	}
	http.Redirect(w, r, fmt.Sprintf("/dev/mailbox#m%d", id), http.StatusSeeOther)
}

var (
	urlPattern  = regexp.MustCompile(`https?://[^\s<>"'|\\^` + "`" + `{}\x00-\x1f]+`)
	hrefPattern = regexp.MustCompile(`(?i)\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`)
)

// links returns the URLs in a message, each once, in order.
func links(body, htmlText string) []string {
	found := []string{}
	add := func(link string) {
		if (strings.HasPrefix(link, "http://") || strings.HasPrefix(link, "https://")) && !slices.Contains(found, link) {
			found = append(found, link)
		}
	}
	for _, at := range urlPattern.FindAllString(body, -1) {
		add(trimLink(at))
	}
	for _, m := range hrefPattern.FindAllStringSubmatch(htmlText, -1) {
		add(html.UnescapeString(m[1] + m[2] + m[3]))
	}
	return found
}

// trimLink removes punctuation that ends the sentence and not the URL. It keeps "-" and "_", because signed links may
// end in them.
func trimLink(link string) string { return strings.TrimRight(link, ".,;:!?)]*") }

// linked escapes text and makes its addresses clickable.
func linked(text string) template.HTML {
	var out strings.Builder
	for {
		at := urlPattern.FindStringIndex(text)
		if at == nil {
			break
		}
		link := trimLink(text[at[0]:at[1]])
		out.WriteString(html.EscapeString(text[:at[0]]))
		fmt.Fprintf(&out, `<a href="%[1]s" target="_blank" rel="noopener noreferrer">%[1]s</a>`,
			html.EscapeString(link))
		text = text[at[0]+len(link):]
	}
	out.WriteString(html.EscapeString(text))
	return template.HTML(out.String()) // escaped piece by piece above
}

// framed returns the frame's attribute with the e-mail. The frame is a sandbox without scripts and with its own origin,
// so the e-mail is harmless. Its links open a new page.
func framed(mail string) template.HTMLAttr {
	doc := `<!doctype html><meta charset="utf-8"><base target="_blank">` +
		`<style>body{font:15px/1.5 system-ui,sans-serif;margin:12px;color:#1b2430;background:#fff;overflow-wrap:anywhere}</style>` + mail
	return template.HTMLAttr(`srcdoc="` + html.EscapeString(doc) + `"`)
}

// replyText returns the text in the JSON answer to a button.
func replyText(answer string) string {
	var a struct {
		Text string `json:"text"`
	}
	if json.Unmarshal([]byte(answer), &a) == nil && a.Text != "" {
		return a.Text
	}
	return answer
}
