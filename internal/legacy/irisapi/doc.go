// Package irisapi serves /v0, the JSON API of Iris. Its clients rely on names, texts, integers for flags, and empty
// bodies. It answers bad input with 400, also where Iris answered 500. A handler decodes the request, checks
// permissions with package auth, calls one operation of the domain or of storage, and encodes the answer. Each resource
// has a file with its routes. Package apiserver calls New.
package irisapi
