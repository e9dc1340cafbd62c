// Package sources decodes the deliveries of alert sources into events. It has one file for each source. The decoders
// are pure: they store nothing and read no address. The edge that takes deliveries calls them.
package sources
