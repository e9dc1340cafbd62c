package subprocess

import "syscall"

// dieWithParent makes the kernel send orphan to the child when the thread that forked it ends.
func dieWithParent(attr *syscall.SysProcAttr, orphan syscall.Signal) { attr.Pdeathsig = orphan }
