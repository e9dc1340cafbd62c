package subprocess

import "syscall"

func dieWithParent(attr *syscall.SysProcAttr, orphan syscall.Signal) { attr.Pdeathsig = orphan }
