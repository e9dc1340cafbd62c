// Package answers serves the routes for the answers of people and the receipts of vendors. It has one file for each
// source of an answer: signed links in messages, buttons in Slack and Gmail, replies by SMS and mail, and keys pressed
// during a call. Every acknowledgement makes the same change as the API's claim, and names the person and the channel.
// Answers are recorded even if Iris did not understand them, but not if Iris itself failed. The API server mounts the
// routes. The package knows no vendor: functions of Deps verify and read the requests of vendors.
//
// Vendors call the routes below /api/v0 and sign their requests. These paths are those of the predecessor's relay.
// Relays call the routes below /v0/response and /v0/twilio; they sign as applications do.
package answers
