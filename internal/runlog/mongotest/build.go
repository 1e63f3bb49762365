package mongotest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// binary returns the path of the double's program.
func binary(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the double of test/mongodouble is slow")
	}
	if named := os.Getenv("CARILLON_MONGODOUBLE"); named != "" {
		if _, err := os.Stat(named); err != nil {
			t.Fatalf("CARILLON_MONGODOUBLE: %v", err)
		}
		return named
	}
	built, err := build()
	if err != nil {
		t.Skipf("SKIPPED, so MongoDB is not tested: the double of test/mongodouble cannot be built: %v", err)
	}
	return built
}

// build builds the program unless the cache directory has one of the same sources. Concurrent test processes
// wait for the first of them.
func build() (string, error) {
	source, err := sources()
	if err != nil {
		return "", err
	}
	version, err := fingerprint(source)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "carillon-test")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	program := filepath.Join(folder, "mongodouble-"+version)
	lock, err := os.OpenFile(program+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }() // closing releases the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	half := program + ".half"
	cmd := exec.Command("go", "build", "-o", half, ".")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, said)
	}
	return program, os.Rename(half, program)
}

// sources returns the double's directory, found from the test's own.
func sources() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		folder := filepath.Join(dir, "test", "mongodouble")
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no test/mongodouble above the test's folder")
		}
		dir = up
	}
}

func fingerprint(folder string) (string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOARCH)
	for _, name := range append(files, filepath.Join(folder, "go.mod"), filepath.Join(folder, "go.sum")) {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(sum, filepath.Base(name), len(data))
		sum.Write(data)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), nil
}
