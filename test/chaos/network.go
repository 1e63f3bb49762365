package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// hub is our address on the bridge that all workers' links are plugged into.
const hub = "10.203.0.1"

// network is the bridge; without one the workers live where we do.
type network struct {
	real bool
	next int
}

// newNetwork makes the bridge, where there is a namespace to make it in.
func newNetwork() (*network, error) {
	if !inside() {
		return &network{}, nil
	}
	return &network{real: true}, errors.Join(ip("link", "add", "bells", "type", "bridge"),
		ip("link", "set", "bells", "up"),
		ip("addr", "add", hub+"/24", "dev", "bells"))
}

// address is where the workers find what we listen with.
func (n *network) address() string {
	if n.real {
		return hub
	}
	return "127.0.0.1"
}

// place is a network namespace with one link to the bridge. It lives as long as its
// descriptor or a process in it does.
type place struct {
	file   *os.File
	device string // our end of its link
}

// newPlace makes one; nil where the workers live where we do.
func (n *network) newPlace() (*place, error) {
	if !n.real {
		return nil, nil
	}
	n.next++
	p := &place{device: fmt.Sprintf("worker%d", n.next)}
	err := elsewhere(func() error { return unix.Unshare(unix.CLONE_NEWNET) }, func() (err error) {
		p.file, err = os.Open(thread("ns/net"))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	at := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), p.file.Fd())
	return p, errors.Join(
		ip("link", "add", p.device, "type", "veth", "peer", "name", "eth0", "netns", at),
		ip("link", "set", p.device, "master", "bells", "up"),
		p.within(func() error {
			return errors.Join(ip("link", "set", "lo", "up"),
				ip("addr", "add", fmt.Sprintf("10.203.0.%d/24", 10+n.next), "dev", "eth0"),
				ip("link", "set", "eth0", "up"))
		}))
}

// remove deletes the place when no process is left in it.
func (p *place) remove() error {
	if p == nil {
		return nil
	}
	return errors.Join(ip("link", "del", p.device), p.file.Close())
}

// within does something, such as to start a process, in the namespace.
func (p *place) within(do func() error) error {
	if p == nil {
		return do()
	}
	return elsewhere(func() error { return unix.Setns(int(p.file.Fd()), unix.CLONE_NEWNET) }, do)
}

// elsewhere moves the thread into another network namespace, does something, and
// comes back. A thread that cannot come back ends with its goroutine.
func elsewhere(move, do func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		home, err := os.Open(thread("ns/net"))
		if err == nil {
			defer home.Close()
			err = move()
		}
		if err == nil {
			err = do()
			if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
				result <- errors.Join(err, back)
				return
			}
		}
		runtime.UnlockOSThread()
		result <- err
	}()
	return <-result
}

// thread names a file of this thread.
func thread(name string) string {
	return filepath.Join("/proc/self/task", fmt.Sprint(unix.Gettid()), name)
}

// The ways in which a link is cut. All are silent but the first.
type cut int

const (
	linkDown  cut = iota // the cable is out, and this end can see it
	blackhole            // nothing arrives anywhere
	deaf                 // what is sent arrives, nothing comes back
	mute                 // nothing that is sent arrives, all comes in
	halfOpen             // the other end has gone, and did not say so
)

// sever cuts the link of a place; the function that it gives mends it.
func (p *place) sever(how cut) (mend func() error, err error) {
	drop := []string{"root", "pfifo", "limit", "0"} // a queue that takes nothing
	ours := func(verb string) error { return tc(append([]string{"qdisc", verb, "dev", p.device}, drop...)...) }
	theirs := func(verb string) error {
		return p.within(func() error { return tc(append([]string{"qdisc", verb, "dev", "eth0"}, drop...)...) })
	}
	link := func(state string) error { return p.within(func() error { return ip("link", "set", "eth0", state) }) }
	switch how {
	case linkDown:
		return func() error { return link("up") }, link("down")
	case deaf:
		return func() error { return ours("del") }, ours("add")
	case mute:
		return func() error { return theirs("del") }, theirs("add")
	case blackhole:
		return func() error { return errors.Join(ours("del"), theirs("del")) }, errors.Join(ours("add"), theirs("add"))
	}
	return nil, fmt.Errorf("no cut %d", how)
}

// remove takes the bridge away.
func (n *network) remove() error {
	if !n.real {
		return nil
	}
	return ip("link", "del", "bells")
}
