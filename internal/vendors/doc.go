// Package vendors holds what the adapters of vendors share: an HTTP client that distinguishes "never sent" from "sent,
// no answer", the refusal of private addresses, the mapping of answers to outcomes, and the cleaning of vendors' texts
// before they are stored.
//
// Each vendor is a subpackage of the same shape: Config with documented zero values, New(Config) (*Vendor, error), and
// a Send that says what the answer means and never retries. Package delivery retries, limits rates and chooses another
// vendor.
//
// Two rules hold for every vendor:
//   - A failure of the account (log-in refused, unknown account, no credit) is Unavailable: the message is kept and
//     retried. A failure of the message or its destination is Rejected.
//   - If the vendor may have accepted the message and did not say so, the outcome is Unknown.
package vendors
