//go:build unix && !linux

package subprocess

import "syscall"

// dieWithParent does nothing: only Linux has a signal for the death of the parent.
func dieWithParent(*syscall.SysProcAttr, syscall.Signal) {}
