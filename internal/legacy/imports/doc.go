// Package imports imports the data of a predecessor. It reads a consistent snapshot of the MySQL database (Source),
// converts rows (Row) into records, and passes them to a Store, which stores all of them in one transaction or none. A
// Report counts and explains the result of every row. The packages iris and oncall know the tables of one predecessor
// each. internal/program/operator calls them; internal/legacy/pg implements the Store.
package imports
