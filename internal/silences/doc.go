// Package silences decides which incidents page nobody for some time because somebody said so: silences, and
// maintenance windows, which are silences that recur. Intake hides matching incidents when they open (Opener). The
// processors hide incidents before they page, and release them when no silence matches any more (Keeper). The edges
// create and end silences (Silences). It knows neither storage nor transport.
package silences
