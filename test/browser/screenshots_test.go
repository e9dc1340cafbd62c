//go:build browser && screenshots

package browser

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// objects names, for each section of the addresses, the object that a data set shows. Pages of other sections' objects
// are left out.
type objects map[string]string

// dataSet is a state of the installation. fill adds to the demo data.
type dataSet struct {
	name string
	args []string
	fill func(*client) objects
}

// pictureLooks are the looks of all pages; fourK is for every fourth.
var (
	pictureLooks = []look{{"light", 1280, 900, "light"}, {"dark", 1280, 900, "dark"}, {"phone", 360, 800, "light"}}
	fourK        = look{"4k", 3840, 2160, "light"}
)

// picture is a row of the index.
type picture struct {
	Page, Data, Path string
	Looks            []string
	Problems         []string
}

// Takes pictures of every page of TestLayout with each data set (test/screenshots.sh). A page that is not ready in time
// is in the index.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("IRIS_SCREENSHOTS")
	require.NotEmpty(t, folder, "run test/screenshots.sh")
	only := os.Getenv("IRIS_DATA_SETS")
	var pages []layoutPage
	var taken []picture
	for _, d := range []dataSet{
		{"hostile", nil, func(c *client) objects { pages = c.pages(); return nil }}, // first: it makes the list of pages
		{"empty", []string{"--no-demo"}, func(*client) objects { return objects{"people": "demo"} }},
		{"typical", nil, typical}, {"huge", nil, huge},
	} {
		t.Run(d.name, func(t *testing.T) {
			if d.name != "hostile" && only != "" && !strings.Contains(only, d.name) {
				return
			}
			startDev(t, d.args...)
			there := d.fill(newClient(t))
			if only != "" && !strings.Contains(only, d.name) {
				return
			}
			b := openTab(t)
			for _, p := range publicPages {
				taken = append(taken, b.pictures(d.name, p))
			}
			b.logIn("demo", password)
			seen := map[string]bool{}
			for _, p := range pages {
				if there != nil {
					p = there.instead(p)
				}
				if p.path != "" && !seen[p.path] {
					seen[p.path] = true
					taken = append(taken, b.pictures(d.name, p))
				}
			}
		})
		writeIndex(t, filepath.Join(folder, "index.html"), taken)
	}
}

var (
	heartbeatPath = regexp.MustCompile(`^/integrations/[^/?#]+/(heartbeats/[^/?#]+|add-heartbeat)`)
	objectPath    = regexp.MustCompile(`^/(oncall/teams|teams|plans|integrations|applications|templates|people|incidents|silences|messages)/([^/?#]+)`)
	objectQuery   = regexp.MustCompile(`\b(plan|from|incident|team|application)=[^&]*`)
)

// instead returns the page with the objects of the data set in its address; without an address if the data set has no
// such object.
func (o objects) instead(p layoutPage) layoutPage {
	if m := heartbeatPath.FindStringSubmatch(p.path); m != nil {
		rest := strings.Replace(m[1], strings.TrimPrefix(m[1], "heartbeats/"), o["heartbeat"], 1)
		if m[1] == "add-heartbeat" {
			rest = m[1]
		}
		p.path = "/integrations/" + o["beats"] + "/" + rest
		if o["beats"] == "" {
			p.path = ""
		}
		return p
	}
	m := objectPath.FindStringSubmatch(p.path)
	if m != nil && m[2] != "new" && m[2] != "export" && p.name != "missing" && !strings.HasPrefix(p.path, "/people/demo") {
		name := o[strings.TrimPrefix(m[1], "oncall/")]
		if name == "" {
			return layoutPage{}
		}
		p.path = "/" + m[1] + "/" + url.PathEscape(name) + strings.TrimPrefix(p.path, m[0])
	}
	p.path = strings.Replace(p.path, "?against=", "?before=", 1)
	p.path = objectQuery.ReplaceAllStringFunc(p.path, func(q string) string {
		key, _, _ := strings.Cut(q, "=")
		return key + "=" + url.QueryEscape(o[map[string]string{"plan": "plans", "from": "plans",
			"incident": "incidents", "team": "teams", "application": "applications"}[key]])
	})
	return p
}

// pictures takes the pictures of a page.
func (b *tab) pictures(data string, p layoutPage) picture {
	b.t.Helper()
	out := picture{Page: p.name, Data: data, Path: p.path}
	list := pictureLooks
	if strings.Contains(" home incidents incident team plan statistics system messages ", " "+p.name+" ") {
		list = append(list[:len(list):len(list)], fourK)
	}
	for _, l := range list {
		b.look(l)
		ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
		err := chromedp.Do(ctx, chromedp.Navigate(home+p.path), visible(`h1`), settled)
		cancel()
		if err != nil {
			out.Problems = append(out.Problems, l.name+": "+err.Error())
		}
		name := p.name + "--" + data + "--" + l.name
		high := ask[int64](b, `document.documentElement.scrollHeight`)
		b.do("show the whole page", chromedp.EmulateViewport(l.width,
			min(max(high, l.height), 8000))) // bars at the bottom of the window are below the page
		if err := b.store(name, chromedp.CaptureScreenshot()); err != nil {
			out.Problems = append(out.Problems, l.name+": "+err.Error())
		}
		out.Looks = append(out.Looks, name+".png")
		for _, wide := range ask[[]string](b, overflowing) {
			out.Problems = append(out.Problems, l.name+": "+wide)
		}
	}
	return out
}

var index = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Pages of the console</title>
<style>body{font:14px system-ui;margin:1em}img{width:300px;max-height:400px;object-fit:cover;object-position:top;border:1px solid #999}p{color:#b00;overflow-wrap:anywhere}</style>
<h1>Pages of the console</h1>{{range .}}<h2 id="{{.Page}}--{{.Data}}">{{.Page}}, {{.Data}}</h2><code>{{printf "%.120s" .Path}}</code>{{range .Problems}}<p>{{.}}</p>{{end}}
<div>{{range .Looks}}<a href="{{.}}"><img loading="lazy" src="{{.}}" alt="{{.}}"></a> {{end}}</div>{{end}}</html>`))

func writeIndex(t *testing.T, path string, taken []picture) {
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, index.Execute(file, taken))
	require.NoError(t, file.Close())
}

// demoObjects are the objects of the demo data.
func demoObjects() objects {
	return objects{"teams": "demo", "plans": "demo-plan", "integrations": "demo-generic", "applications": "demo",
		"templates": "demo-template", "people": "ana",
		"messages": "1", "silences": "1", "beats": "demo-heartbeat", "heartbeat": "default"}
}

// typical is a small team on an ordinary day.
func typical(c *client) objects {
	for _, i := range []object{
		{"title": "Disk of db-3 is 92 % full", "severity": "warning", "summary": "92 % of /var/lib/postgresql",
			"labels": object{"host": "db-3", "service": "orders"}},
		{"title": "Error rate of checkout is 7 %", "severity": "critical",
			"labels": object{"service": "checkout", "region": "eu-west"}},
		{"title": "Certificate of api.example.com ends in 6 days", "severity": "info",
			"labels": object{"host": "api.example.com"}},
		{"title": "Replica is 40 s behind", "severity": "error", "labels": object{"host": "db-4", "service": "orders"},
			"context": object{"links": []object{{"url": "https://wiki.example.com/replica", "text": "Runbook"}}}},
	} {
		c.open(i)
	}
	c.call(http.MethodPost, "/v1/incidents/1/comments", object{"content": "I am looking at the log files."}, nil)
	c.acknowledge(2, "demo")
	c.call(http.MethodPost, "/v1/incidents/3/resolve", object{}, nil)
	c.call(http.MethodPost, "/v1/silences", object{"match": "host=db-9", "application": "demo", "for_seconds": 7200,
		"comment": "db-9 gets a new disk"}, nil)
	there := demoObjects()
	there["incidents"] = "4"
	return there
}
