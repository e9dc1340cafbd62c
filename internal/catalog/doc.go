// Package catalog decides what people and programs can do with plans, templates and applications: who may save, change,
// delete or give away one, which content is right, and what a plan would do. Every door calls its operations (Plans,
// Templates, Applications). The API of Iris also calls the methods for changes that only /v0 has (Save, SetActive, Erase,
// Change). The package knows neither storage nor transport. A fault names the field as bodies of /v1 spell it. Faults
// about plans and templates have the title that clients of /v0 expect.
package catalog
