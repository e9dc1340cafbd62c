package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Page is what one page of the console costs.
type Page struct {
	Path     string
	Status   int
	P50, P95 time.Duration // of the answer of the server
	HTML     int           // bytes of the answer, before compression
	// Bytes is the size of the page with its scripts and styles, before compression. Scripts that other scripts import
	// count too.
	Bytes int
}

// visited lists the pages that Pages requests. A * stands for the first object that is linked in the list before it.
// Names that begin with bench-fill are those of fill.sql.
var visited = []string{"/", "/incidents", "/incidents?show=mine", "/incidents?show=teams",
	"/incidents?show=escalating", "/incidents?show=acknowledged", "/incidents?show=resolved",
	"/incidents?show=all&application=bench-fill-app-2", "/incidents?show=all&plan=bench-fill-plan-2", "/incidents?show=all&owner=bench-fill-user-2", "/incidents?show=all&severity=critical",
	"/incidents?show=all&text=DiskFull", "/incidents?show=all&text=host-4711", "/incidents?show=all&text=nothing+has+this", "/incidents?show=all", "/incidents/*", "/incidents/new",
	"/plans", "/plans?name=plan-2", "/plans/bench-fill-plan-2", "/plans/bench-fill-plan-2/edit", "/plans/bench-fill-plan-2/versions", "/plans/bench-fill-plan-2/test", "/plans/new",
	"/templates", "/templates/*", "/templates/PLAN/edit", "/templates/new",
	"/applications", "/applications/bench-fill-app-2", "/applications/bench-fill-app-2/edit", "/applications/new",
	"/integrations", "/integrations/bench-fill-integration-1", "/integrations/bench-fill-integration-1/settings", "/integrations/bench-fill-integration-1/rules", "/add-integration",
	"/heartbeats", "/integrations/bench-fill-integration-1/heartbeats/bench-fill-heartbeat-1", "/integrations/bench-fill-integration-1/add-heartbeat",
	"/silences", "/silences/*", "/silences/new",
	"/teams", "/teams/bench-fill-team-1", "/teams/bench-fill-team-1/coverage", "/oncall/teams", "/oncall/teams/bench-fill-team-1", "/me", "/oncall/me", "/on-call-roles",
	"/people", "/people?q=user-2", "/people/bench-fill-user-2", "/people/bench-fill-user-2/preferences", "/people/bench-fill-user-2/reminders", "/reachability", "/invitations",
	"/messages?application=bench-fill-app-2", "/messages?mode=email&state=sent", "/messages?target=bench-fill-user-2", "/messages", "/messages/*",
	"/statistics?period=day", "/statistics", "/statistics?period=month", "/statistics?period=quarter", "/statistics?period=month&plan=bench-fill-plan-2",
	"/system", "/tokens", "/service-tokens", "/sessions", "/account/second-factor", "/audit-log"}

// wanted is the expected status of every page.
const wanted = http.StatusOK

// Pages starts servers over a filled database and requests each page of the console as an administrator, one request at
// a time. It returns the figures of all pages, and an error that names those whose status is not 200.
func Pages(ctx context.Context, o Options, rounds int) ([]Page, error) {
	o = o.withDefaults()
	sink, err := startSink(ctx, o, func(delivery) {})
	if err != nil {
		return nil, err
	}
	defer sink.stop()
	s, err := startStand(ctx, o, sink.addr)
	if err != nil {
		return nil, err
	}
	defer s.stop(false)
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	v := &visitor{base: s.url, client: &http.Client{Jar: jar, Timeout: 30 * time.Second}, sizes: map[string]int{}}
	if _, status, err := v.do(ctx, http.MethodPost, "/login/", url.Values{"username": {s.app}, "password": {s.password}}); err != nil || status != http.StatusOK {
		return nil, errors.Join(err, fmt.Errorf("log in: status %d", status))
	}
	v.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	var pages []Page
	var failed []string
	var list []byte
	for _, path := range visited {
		path = strings.Replace(path, "PLAN", s.plan, 1)
		if prefix, ok := strings.CutSuffix(path, "*"); ok {
			if path = firstLink(list, prefix); path == "" {
				failed = append(failed, prefix+" (the list has no link)")
				continue
			}
		}
		p, body, err := v.visit(ctx, path, rounds)
		if err != nil {
			return pages, err
		}
		pages = append(pages, p)
		list = body
		if p.Status != wanted {
			failed = append(failed, fmt.Sprintf("%s (status %d)", path, p.Status))
		}
	}
	if failed != nil {
		return pages, fmt.Errorf("pages that cannot be shown: %s", strings.Join(failed, ", "))
	}
	return pages, nil
}

// firstLink returns the first address in a page that begins with prefix and is an object; "" = there is none.
func firstLink(body []byte, prefix string) string {
	for _, m := range regexp.MustCompile(`href="(`+regexp.QuoteMeta(prefix)+`[^"?#/]+)"`).FindAllSubmatch(body, -1) {
		if path := string(m[1]); path != prefix+"new" {
			return path
		}
	}
	return ""
}

// visitor is a browser that measures. It is not safe for concurrent use.
type visitor struct {
	base   string
	client *http.Client
	sizes  map[string]int // bytes of static files by address
}

func (v *visitor) do(ctx context.Context, method, path string, form url.Values) ([]byte, int, error) {
	req, err := http.NewRequestWithContext(ctx, method, v.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, 0, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := v.client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return body, resp.StatusCode, err
}

func (v *visitor) visit(ctx context.Context, path string, rounds int) (Page, []byte, error) {
	p := Page{Path: path}
	var took []time.Duration
	var body []byte
	for range rounds {
		begun := time.Now()
		var err error
		if body, p.Status, err = v.do(ctx, http.MethodGet, path, nil); err != nil {
			return p, nil, fmt.Errorf("%s: %w", path, err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	p.P50, p.P95 = took[len(took)/2], took[min(len(took)-1, len(took)*95/100)]
	p.HTML, p.Bytes = len(body), len(body)
	files := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`).FindAllSubmatch(body, -1) {
		if err := v.files(ctx, string(m[1]), files); err != nil {
			return p, nil, err
		}
	}
	for file := range files {
		p.Bytes += v.sizes[file]
	}
	return p, body, nil
}

// files adds a static file, and what it imports, to all.
func (v *visitor) files(ctx context.Context, address string, all map[string]bool) error {
	if all[address] {
		return nil
	}
	all[address] = true
	body, _, err := v.do(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	v.sizes[address] = len(body)
	for _, m := range regexp.MustCompile(`(?:import|from)"\./([^"]+)"`).FindAllSubmatch(body, -1) {
		if err := v.files(ctx, address[:strings.LastIndex(address, "/")+1]+string(m[1]), all); err != nil {
			return err
		}
	}
	return nil
}

// PrintPages prints the figures as a table.
func PrintPages(out io.Writer, pages []Page) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "status\tp50 ms\tp95 ms\tkB\ttotal kB\t  page")
	for _, p := range pages {
		fmt.Fprintf(w, "%d\t%.1f\t%.1f\t%d\t%d\t  %s\n", p.Status, float64(p.P50.Microseconds())/1000,
			float64(p.P95.Microseconds())/1000, p.HTML/1000, p.Bytes/1000, p.Path)
	}
	return w.Flush()
}
