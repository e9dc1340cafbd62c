// Package slack posts messages with buttons to Slack (chat.postMessage, Block Kit), and reads the signed callbacks of
// pressed buttons. Package vendoraccounts builds it, delivery calls it, package answers reads callbacks with it, and
// package directory lists people with it. It does not retry; failures are messages.Results.
package slack
