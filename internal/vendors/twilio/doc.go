// Package twilio sends texts and calls through Twilio's HTTP API, and reads Twilio's requests: signed status callbacks,
// replies and pressed keys. Package vendoraccounts builds it, delivery calls it, and package answers reads callbacks
// with it. It does not retry; failures are messages.Results.
//
// Twilio has no idempotency keys. A repeated message is recognised by the message id, which is in the URL of the status
// callback and in the URL of a call's text.
package twilio
