package proctree

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Conceal closes the environment, memory and files of this process to other processes of its user, and forbids core
// dumps to it and to what it starts. It holds until the process executes another program.
func Conceal() error {
	var none unix.Rlimit
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &none); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close the process to others of its user: %w", err)
	}
	return nil
}
