// Package account keeps the state of vendors' accounts in this process: which calls run, which destinations fail,
// whether the account works at all, which accounts are paused, and what to do after a failed attempt (Budget).
//
// Package delivery calls it for each message before and after its call. For this package destinations are opaque text;
// it never reads messages, templates or the database.
package account
