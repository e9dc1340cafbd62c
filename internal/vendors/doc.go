// Package vendors holds what the adapters to the outside world share: an HTTP client that tells "never sent" from
// "sent, no answer", the refusal of private addresses, the mapping of answers to outcomes, and the cleaning of what
// vendors say before it is stored.
//
// Each vendor is a subpackage of the same shape: Config with documented zero values, New(Config) (*Vendor, error),
// and a Send that says what the answer means and never retries. Retrying, limits and the choice of another vendor
// belong to delivery.
//
// Two rules hold for every vendor:
//   - A fault of the account (log-in refused, unknown account, no credit) is Unavailable: the message itself is fine,
//     so it is kept and tried again. A fault of the message or its destination is Rejected.
//   - Whenever the vendor may have accepted the message and did not say so, the outcome is Unknown.
package vendors
