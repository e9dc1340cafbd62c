// Package accounts has the rules of the accounts that Iris itself keeps: the second factor of log-ins with a password
// and who needs one, password resets, and invitations. The web site and /v1 use it. Storage
// is behind interfaces. Faults have texts for the person who logs in.
package accounts
