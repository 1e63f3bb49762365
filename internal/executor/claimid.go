package executor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// claimedID is the name of a worker's id, which this process holds.
type claimedID struct {
	listener net.Listener  // nil: a process of another user holds the name
	closing  chan struct{} // closed by close
	done     chan struct{} // closed when no connection is answered any more
}

func socketOf(id string) string { return "@carillon-worker-" + id }

// claimID reserves the worker's id for this process: a copy of a data folder has the same id but another lock,
// and a worker started on it would kill the commands of the live one as leftovers. The name of an abstract
// socket is reserved until its process has ended, however it ends.
//
// Such names have no permissions: any user may take one. Only a holder with the worker's own user, or root, is another
// process of this worker; the kernel reports the user that called listen. Without the name a copy is found later, by
// its registration in etcd.
//
// The kernel separates such names by network namespace, and processes by PID namespace, so the socket is
// searched for in the namespaces of all visible processes: a process that is not visible here cannot be killed
// as a leftover either. Two workers that start at the same moment may both fail.
func claimID(id string, user int) (*claimedID, error) {
	name := socketOf(id)
	l, err := net.Listen("unix", name)
	if errors.Is(err, syscall.EADDRINUSE) {
		if heldBy(name, user) {
			return nil, twin(id, "on this machine")
		}
		if l, err = net.Listen("unix", name); errors.Is(err, syscall.EADDRINUSE) { // it may have ended meanwhile
			l, err = nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reserve worker id: %w", err)
	}
	c := newClaimedID(l)
	elsewhere, err := takenElsewhere(name, user)
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("search for another process of this worker: %w", err), c.close())
	case elsewhere:
		return nil, errors.Join(twin(id, "on this machine, in another network namespace,"), c.close())
	}
	return c, nil
}

// newClaimedID answers connections by closing them, so that those of other users do not fill the queue: then a copy
// could not find out who holds the name.
func newClaimedID(l net.Listener) *claimedID {
	c := &claimedID{listener: l, closing: make(chan struct{}), done: make(chan struct{})}
	if l == nil {
		close(c.done)
	} else {
		go c.answer()
	}
	return c
}

func (c *claimedID) answer() {
	defer close(c.done)
	for {
		conn, err := c.listener.Accept()
		if err == nil {
			_ = conn.Close() // nothing was written
			continue
		}
		select {
		case <-c.closing:
			return
		case <-time.After(homeRetry): // no descriptor is free
		}
	}
}

func (c *claimedID) close() error {
	if c.listener == nil {
		return nil
	}
	close(c.closing)
	err := c.listener.Close()
	<-c.done
	return err
}

func twin(id, where string) error {
	return fmt.Errorf("worker %s is already running %s, with a data folder of which this one may be a copy: %w", id,
		where, ErrHomeInUse)
}

// holderWait is how long a holder whose queue of connections is full may keep its user unknown: a worker empties it.
const holderWait = time.Second

// heldBy reports whether a process of the user, or of root, holds the name.
func heldBy(name string, user int) bool {
	ctx, cancel := context.WithTimeout(context.Background(), holderWait)
	defer cancel()
	for {
		uid, err := holder(ctx, name)
		switch {
		case err == nil:
			return uid == 0 || uid == user
		case !errors.Is(err, syscall.EAGAIN):
			return false // no process listens
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(homeRetry):
		}
	}
}

// holder returns the user of the process that listens on a socket.
func holder(ctx context.Context, name string) (uid int, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", name)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	if controlErr := raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); controlErr != nil || err != nil {
		return 0, errors.Join(controlErr, err)
	}
	return int(peer.Uid), nil
}

// takenElsewhere reports whether the name of an abstract socket is held in another network namespace that has a
// process of the user, or of root. The list of sockets, unix(7), is world-readable, and is the same file for all
// processes of a namespace.
func takenElsewhere(name string, user int) (bool, error) {
	lists, err := filepath.Glob("/proc/[0-9]*/net/unix")
	if err != nil {
		return false, err
	}
	own, err := inode("/proc/self/net/unix")
	if err != nil {
		return false, err
	}
	listed := map[uint64]bool{own: false} // by namespace
	for _, list := range lists {
		namespace, err := inode(list)
		if err != nil {
			continue // the process has ended
		}
		found, looked := listed[namespace]
		if !looked {
			data, err := os.ReadFile(list)
			if err != nil {
				continue // it has ended; another process may provide the same list
			}
			found = contains(string(data), name)
			listed[namespace] = found
		}
		if !found {
			continue
		}
		if uid, err := realUser(filepath.Dir(filepath.Dir(list))); err == nil && (uid == 0 || uid == user) {
			return true, nil
		}
	}
	return false, nil
}

// contains reports whether a list of sockets contains the name.
func contains(list, name string) bool {
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[len(fields)-1] == name {
			return true
		}
	}
	return false
}

// realUser returns the real user of a process, by its folder in /proc, as it is here. The owner of the folder is root
// if the process has changed its privileges, or asked for it.
func realUser(process string) (int, error) {
	status, err := os.ReadFile(filepath.Join(process, "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if users, found := strings.CutPrefix(line, "Uid:"); found {
			first, _, _ := strings.Cut(strings.TrimSpace(users), "\t")
			return strconv.Atoi(first)
		}
	}
	return 0, errors.New("no user is listed")
}
