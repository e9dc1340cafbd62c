// Package operation describes what callers can do, once for every door: /v1, pages, the command line and the wires of
// the predecessors. A package such as silences defines its operations as values, and binds them to the functions
// that carry them out. Do checks the caller, the input and its rules before it calls the function, so that a rule holds
// at every door. Package operation knows none of these packages and no transport.
package operation
