package wire

import (
	"net/http"
	"strconv"
)

// warningHeader is set once for each warning: the request was done, but its effect may be another one than the caller expects.
const warningHeader = "X-Iris-Warning"

// Warn puts at most 20 warnings into headers of the answer, in ASCII. Clients may ignore them.
func Warn(w http.ResponseWriter, warnings []string) {
	const most = 20
	for _, text := range warnings[:min(len(warnings), most)] {
		quoted := strconv.QuoteToASCII(text)
		w.Header().Add(warningHeader, quoted[1:len(quoted)-1])
	}
}
