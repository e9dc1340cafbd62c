package wire

import (
	"net/http"
	"strconv"
)

// warningHeader is set once for each warning. A warning means: the request succeeded, but its effect may surprise the caller.
const warningHeader = "X-Iris-Warning"

// Warn adds at most 20 warnings to the headers of the answer, in ASCII. Clients may ignore them.
func Warn(w http.ResponseWriter, warnings []string) {
	const most = 20
	for _, text := range warnings[:min(len(warnings), most)] {
		quoted := strconv.QuoteToASCII(text)
		w.Header().Add(warningHeader, quoted[1:len(quoted)-1])
	}
}
