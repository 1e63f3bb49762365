//go:build !linux || !(amd64 || arm64)

package spawn

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Starter starts commands. There is none for this architecture.
type Starter struct{}

// New returns an error.
func New(*unix.Rlimit) (*Starter, error) { return nil, errors.ErrUnsupported }

// Start returns an error.
func (*Starter) Start(*Command) (pid, pidfd int, err error) {
	return 0, -1, Unusable{errors.ErrUnsupported}
}

// Close does nothing.
func (*Starter) Close() error { return nil }
