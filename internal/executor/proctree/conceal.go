package proctree

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Conceal denies other processes of the same user access to the environment, memory and open files of this process, and
// disables core dumps for it and its descendants. The denial ends when the process executes another program.
func Conceal() error {
	var none unix.Rlimit
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &none); err != nil {
		return fmt.Errorf("disable core dumps: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make the process inaccessible to others of its user: %w", err)
	}
	return nil
}
