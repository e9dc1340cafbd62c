// Package smtp sends e-mail to one mail server over connections that are kept open and reused. Package accounts builds
// it and delivery calls it. It does not retry; failures are messages.Results.
//
// go-mail builds the message; the SMTP client is our own. It must distinguish a message that was surely not accepted
// (any failure before the final dot) from one that may have been (the dot was sent and no reply came). It also sends
// thousands of messages a second over few connections: envelope and DATA go out in one packet if the server supports
// pipelining.
package smtp
