// Package reach hides from an application what does not belong to it. Its stores stand between the edges and storage:
// for a caller whom auth.Actor.Confined confines, the incidents, messages and notifications of other applications do
// not exist. A read or change of one is auth.ErrNotReached, and lists leave them out. Everybody else gets what storage
// has. app puts the stores together; the handlers of the edges need no check of their own. It decides no permission:
// package auth does.
package reach
