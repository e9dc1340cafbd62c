// Package push sends to people's phones through Firebase Cloud Messaging, HTTP v1. Package vendoraccounts builds it and
// delivery calls it. It does not retry; failures are messages.Results.
//
// A destination is "devices:NAME", which means every active device that the person of that name registered, or one
// registration token. A message counts as sent if at least one device accepted it. Devices that Firebase reports as
// dead are switched off. Firebase has no idempotency keys: a repeated message replaces the earlier one on the phone
// (collapse key).
package push
