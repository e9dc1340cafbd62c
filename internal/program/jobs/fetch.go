package jobs

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall/editing"
)

// maxRedirects is how many redirects of a calendar are followed. The address of each is checked like the first.
const maxRedirects = 3

// answer is the answer of the server of a calendar. Text is nil if the calendar has not changed.
type answer struct {
	text               []byte
	etag, lastModified string
}

// problem returns a fault with a text for the person who subscribed. The text never has the URL.
func problem(format string, args ...any) error { return fault.Newf(fault.Unavailable, format, args...) }

// fetch gets a calendar. etag and lastModified are those of the last answer.
func (r *Reader) fetch(ctx context.Context, address, etag, lastModified string) (answer, error) {
	if address == "" {
		return answer{}, problem("the stored address cannot be decrypted: enter it again")
	}
	for range maxRedirects + 1 {
		checked, _, err := editing.CalendarURL(address, r.private)
		if err != nil {
			return answer{}, problem("the address, or one to which it redirects, is not allowed: it must begin with https://")
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, checked, http.NoBody)
		if err != nil {
			return answer{}, problem("the address is not a URL")
		}
		req.Header.Set("Accept", "text/calendar, */*;q=0.1")
		req.Header.Set("User-Agent", "Iris")
		if etag != "" {
			req.Header.Set("If-None-Match", etag)
		}
		if lastModified != "" {
			req.Header.Set("If-Modified-Since", lastModified)
		}
		var a answer
		if a, address, err = r.call(req); err != nil || address == "" {
			return a, err
		}
	}
	return answer{}, problem("the server redirects more than %d times", maxRedirects)
}

// call makes one request. next is the address of a redirect.
func (r *Reader) call(req *http.Request) (a answer, next string, err error) {
	resp, err := r.client.Do(req)
	if err != nil {
		return a, "", unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	redirects := []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect}
	switch {
	case resp.StatusCode == http.StatusNotModified:
		return a, "", nil
	case slices.Contains(redirects, resp.StatusCode):
		to, err := req.URL.Parse(resp.Header.Get("Location"))
		if err != nil || resp.Header.Get("Location") == "" {
			return a, "", problem("the server redirects to an address that cannot be read")
		}
		return a, to.String(), nil
	case resp.StatusCode != http.StatusOK:
		return a, "", problem("the server answered %s", status(resp.StatusCode))
	}
	a = answer{etag: resp.Header.Get("ETag"), lastModified: resp.Header.Get("Last-Modified")}
	if a.text, err = io.ReadAll(resp.Body); err != nil {
		return a, "", unreachable(err)
	}
	if len(a.text) > editing.MaxCalendar {
		return a, "", problem("the calendar is larger than %d MiB", editing.MaxCalendar>>20)
	}
	return a, "", nil
}

func status(code int) string {
	if text := http.StatusText(code); text != "" {
		return strconv.Itoa(code) + " " + text
	}
	return strconv.Itoa(code)
}

// unreachableText is the one text about every failed call. Reasons of the network name addresses inside it, such as
// that of the resolver, so only the log has them.
const unreachableText = "the server of the calendar cannot be reached: check the address; the server must be public, with a valid certificate"

// unreachable returns the fault of a failed call. Its cause, for the log, is without the URL.
func unreachable(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fault.Wrap(fault.Unavailable, err, unreachableText)
}
