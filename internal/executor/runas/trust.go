package runas

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Trust returns an error if users other than root, and the trusted one, could write a file or folder.
func Trust(path string, info fs.FileInfo, trusted uint32) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("the owner of %s is unknown", path)
	}
	if stat.Uid != trusted && stat.Uid != 0 {
		return fmt.Errorf("%s belongs to the user %d, and must belong to root", path, stat.Uid)
	}
	mode := info.Mode()
	if info.IsDir() && mode&os.ModeSticky != 0 {
		return nil // others cannot replace files of root
	}
	if mode.Perm()&0o022 != 0 {
		return fmt.Errorf("%s has the mode %04o: users other than root may write it", path, mode.Perm())
	}
	return nil
}

// TrustAbove returns an error if other users could replace a file by writing one of its parent folders.
func TrustAbove(path string, trusted uint32) error {
	whole, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for _, start := range []string{path, whole} {
		for dir := filepath.Dir(start); ; dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err != nil {
				return err
			}
			if err := Trust(dir, info, trusted); err != nil {
				return err
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return nil
}
