package pgserver

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// identity is the user that runs the server. PostgreSQL refuses to run as root. initdb looks its user up in the
// password database: see attributes.
type identity struct {
	name       string
	uid, gid   int
	credential *syscall.Credential // nil = the user of this process
}

// unprivileged returns the user of the server: the user of this process, or for root the user postgres, or else nobody.
func unprivileged() (identity, error) {
	if uid := os.Geteuid(); uid != 0 {
		return identity{uid: uid, gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err := errors.Join(err1, err2); err != nil {
			continue
		}
		return identity{
			name: name, uid: uid, gid: gid,
			credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)},
		}, nil
	}
	return identity{}, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody: " +
		"create one, run as another user, or set IRIS_DATABASE_URL")
}

// unnamed returns the error for a user whom the password database does not have, as with docker run --user 12345; nil =
// it has the user.
func (id identity) unnamed() error {
	if _, err := user.LookupId(strconv.Itoa(id.uid)); err == nil {
		return nil
	}
	return fmt.Errorf("user %d has no entry in /etc/passwd, which PostgreSQL needs, and this machine allows no user namespaces: "+
		"add an entry, run iris dev as a user that has one, or set IRIS_DATABASE_URL", id.uid)
}

// attributes returns how programs that look up their user run. They run in a user namespace if the user has no name.
func (id identity) attributes() *syscall.SysProcAttr {
	if id.unnamed() == nil {
		return &syscall.SysProcAttr{Credential: id.credential}
	}
	return id.asNobody()
}

// asNobody returns a user namespace in which the user has the number of nobody, who has a name. Files belong to the
// real user.
func (id identity) asNobody() *syscall.SysProcAttr {
	u, err := user.Lookup("nobody")
	if err != nil {
		return &syscall.SysProcAttr{}
	}
	inside, err := strconv.Atoi(u.Uid)
	if err != nil {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: inside, HostID: id.uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: id.gid, HostID: id.gid, Size: 1}}}
}

// own makes the identity the owner of a file.
func (id identity) own(path string) error {
	if id.credential == nil {
		return nil
	}
	return os.Lchown(path, id.uid, id.gid)
}

// canEnter checks that the identity may enter dir, which must exist, and all its parents. initdb's own error is vague.
func (id identity) canEnter(dir string) error {
	if id.credential == nil {
		return nil
	}
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return nil
		}
		bit := os.FileMode(0o001)
		switch {
		case int(st.Uid) == id.uid:
			bit = 0o100
		case int(st.Gid) == id.gid:
			bit = 0o010
		}
		if info.Mode()&bit == 0 {
			return fmt.Errorf("PostgreSQL runs as user %s, who may not enter %s (mode %04o): "+
				"use another state directory (--state-dir or IRIS_STATE_DIR, for example /var/lib/iris), "+
				"or permit it with chmod o+x", id.name, d, info.Mode().Perm())
		}
		if d == filepath.Dir(d) {
			return nil
		}
	}
}
