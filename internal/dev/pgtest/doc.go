// Package pgtest gives each test a migrated database of its own, on the server that IRIS_DATABASE_URL names, or on an
// embedded one that lives as long as the test binary. It never skips: a test without a database fails.
//
// The schema is applied once per content of the migrations, to a template database; a test's database is a copy of it,
// which takes some milliseconds. Only tests import this package.
package pgtest
