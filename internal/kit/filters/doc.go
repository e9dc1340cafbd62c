// Package filters holds a parsed query of a list: conditions on named fields. The edges parse it, and postgres turns it
// into SQL. Each domain package declares a Schema with the fields of its lists. Package filters knows neither HTTP nor
// SQL.
package filters
