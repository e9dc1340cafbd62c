// Package catalog decides what people and programs can do with plans and templates: who may save, activate, delete or
// give away a version, which content is right, and what a plan would do. Every door calls its operations (Plans,
// Templates); the API of Iris calls Save. It knows neither storage nor transport. A fault names the field as bodies of
// /v1 spell it, and has the title that clients of /v0 expect.
package catalog
