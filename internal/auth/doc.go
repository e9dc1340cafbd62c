// Package auth identifies callers and decides what they may do. It checks the signatures of applications (HMAC with
// shared keys), the passwords of people and signed links. Its Actor decides every permission. It also derives all keys
// of an installation from one secret. The edges call it with received values; storage implements its interfaces. It
// imports neither HTTP nor storage. Refusals are Unauthenticated or Forbidden faults.
package auth
