// Package wire holds what every HTTP edge of Iris does the same way: reading a body once and within a limit, decoding
// JSON strictly, writing answers, and turning errors into the shape that the clients of a path expect. The edges
// (irisapi, oncallapi, webhooks, responses, web) do not import each other; they share this package. It knows no domain
// and no storage.
package wire
