// Package batch turns many small pieces of work that come at the same time into few large ones. It is a library: it
// imports nothing of Iris but faults. Storage and delivery use it.
//
// A large batch costs little more than a small one. So a single item is processed immediately. In a flood, batches
// begin at least a gap apart.
package batch
