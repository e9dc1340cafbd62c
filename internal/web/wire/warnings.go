package wire

import (
	"net/http"
	"strconv"
)

// warningHeader is set once for each warning. A warning means: the request succeeded, but its effect may surprise the
// caller.
const warningHeader = "X-Iris-Warning"

// Warn adds warnings to the headers of the answer; see Warnings. Clients may ignore them.
func Warn(w http.ResponseWriter, warnings []string) {
	for _, text := range Warnings(warnings) {
		w.Header().Add(warningHeader, text)
	}
}

// Warnings returns at most 20 warnings as headers have them, in ASCII.
func Warnings(warnings []string) (out []string) {
	const most = 20
	for _, text := range warnings[:min(len(warnings), most)] {
		quoted := strconv.QuoteToASCII(text)
		out = append(out, quoted[1:len(quoted)-1])
	}
	return out
}
