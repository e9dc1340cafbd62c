// Package vendortest is the test suite that every vendor must pass: how refusals, limits, missing answers, broken
// connections and unreadable answers are mapped, and that no content of a message can escape its field. It runs against
// the pretend vendors. For tests only.
package vendortest
