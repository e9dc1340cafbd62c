package site

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/auth/signon"
	"github.com/iris-oncall/iris/internal/web/page"
)

// themeAge is how long a browser keeps the theme, in seconds.
const themeAge = 365 * 24 * 60 * 60

// setTheme keeps the theme of this browser in a cookie, so that the first paint of a page is right. "system" deletes it.
func (w *Handler) setTheme(rw http.ResponseWriter, r *http.Request) {
	cookie := http.Cookie{Name: page.ThemeCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if theme := r.PostFormValue("theme"); theme == "light" || theme == "dark" {
		cookie.Value, cookie.MaxAge = theme, themeAge
	}
	http.SetCookie(rw, &cookie)
	back := r.PostFormValue("back")
	if !signon.LocalPath(back) {
		back = "/"
	}
	http.Redirect(rw, r, back, http.StatusSeeOther)
}
