package routing

import "net/http"

// ShowTag tells the client the state of what it is shown, for an If-Match of the edit that follows (RFC 9110).
func ShowTag(w http.ResponseWriter, tag string) { w.Header().Set("ETag", `"`+tag+`"`) }
