// Package signatures checks the signatures of deliveries: those of Grafana and Sentry, with secrets of the integration,
// and those of Amazon SNS, with Amazon's certificates. It also confirms subscriptions of SNS topics. The edge that
// takes deliveries calls it. A delivery with a wrong signature is an Unauthenticated fault that says why.
package signatures
