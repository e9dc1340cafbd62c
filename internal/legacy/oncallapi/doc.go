// Package oncallapi serves Oncall's API v0 below /api/v0. Oncall's clients rely on its answers, byte for byte;
// docs/compatibility.md lists the exceptions. A handler decodes the request, asks package auth whether the caller may,
// calls one method of storage or a pure function of the domain, and encodes the answer. An "event" on the wire is a
// shift in the domain. Each resource has a file with its routes. Package oncall/requests has the decoders that it
// shares with /v1.
package oncallapi
