// Package reach hides the incidents, messages and notifications of other applications from an application that
// auth.Actor.Confined confines. Its stores stand between the doors and storage. To a confined caller, what belongs to
// another application does not exist: a read or change of it is operation.ErrNotReached, and lists leave it out. Everybody
// else gets what storage has. The handlers behind these stores need no check of their own. The package decides no
// permission; package auth does.
package reach
