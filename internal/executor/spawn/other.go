//go:build !linux || !(amd64 || arm64)

package spawn

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Starter starts commands. There is none for this architecture.
type Starter struct{}

// New returns an error.
func New(*unix.Rlimit, func(error)) (*Starter, error) { return nil, errors.ErrUnsupported }

// Start returns an error.
func (*Starter) Start(*Command) (pid, pidfd int, err error) { return 0, -1, errors.ErrUnsupported }

// Kill does nothing.
func (*Starter) Kill(*Command) bool { return false }

// Close does nothing.
func (*Starter) Close() error { return nil }
