// Package matchers is the syntax of Alertmanager for conditions on labels. The routing rules of integrations and
// silences use it. It is pure.
//
// The work of a condition is bounded. Parse refuses large expressions, and a Budget bounds what all conditions of one
// decision cost. A condition that would cost more is Undecided: the caller must decide so that somebody is paged.
package matchers
