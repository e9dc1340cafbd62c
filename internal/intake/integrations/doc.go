// Package integrations has the operations on integrations and their heartbeats, and what answers show of them. It
// decides who may read and change them. A token is in one answer only: because answers to a POST may be stored
// (Idempotency-Key), tokens are made by PUT.
package integrations
