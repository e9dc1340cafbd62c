// Package auth answers who is calling and what they may do: applications that sign requests (HMAC with shared keys),
// people with sessions and passwords, signed links that act once for one person, and the permissions of them all.
// It also derives every key Iris needs from one installation secret. It imports neither HTTP nor storage: edges pass
// the received values, storage finds applications and users.
package auth
