//go:build unix

package pgserver

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// owner returns whose the cluster is: PostgreSQL does not run as root.
func owner() (uid, gid int, other bool, err error) {
	if os.Getuid() != 0 {
		return os.Getuid(), os.Getgid(), false, nil
	}
	u, err := user.Lookup("postgres") // the package makes it
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return 0, 0, false, fmt.Errorf("no user to run PostgreSQL as: %w", err)
	}
	if uid, err = strconv.Atoi(u.Uid); err != nil {
		return 0, 0, false, err
	}
	gid, err = strconv.Atoi(u.Gid)
	return uid, gid, true, err
}

// own gives a directory to the owner of the cluster.
func own(dir string) error {
	uid, gid, other, err := owner()
	if err != nil || !other {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// asOwner makes a command run as the owner of the cluster.
func asOwner(cmd *exec.Cmd) error {
	uid, gid, other, err := owner()
	if err != nil {
		return err
	}
	if other {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	return nil
}
