// Package pagerdutyapi serves the part of PagerDuty's REST API v2 that people's scripts call, below /pagerduty, so that
// a script needs only another base address and a token of Iris. It translates and calls the operations of /v1. It may
// not know storage, and has no rule of its own.
package pagerdutyapi
