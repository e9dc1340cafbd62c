// Package smtpd receives the alert mails of integrations over SMTP. The address of an integration is one of its tokens,
// at any domain that is configured; TOKEN+KEY@DOMAIN also has the dedup key. A mail is accepted when its event is
// durable. iris-api runs a server if an address is configured. The package knows no format of mails: package sources
// decodes.
package smtpd
