package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Programs returns the folder of the programs that tests start: the one that CARILLON_TEST_BIN names, or else bin in
// the checkout. Make builds them before the tests, which compile nothing: what is compiled beside a test starves it.
func Programs() (string, error) {
	if named := os.Getenv("CARILLON_TEST_BIN"); named != "" {
		return named, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for up := filepath.Dir(dir); ; dir, up = up, filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return filepath.Join(dir, "bin"), nil
		}
		if up == dir {
			return "", errors.New("no checkout above the folder of the test; set CARILLON_TEST_BIN")
		}
	}
}

// Program returns the path of one of these programs. CARILLON_TEST_ETCD names another etcd.
func Program(name string) (string, error) {
	if other := os.Getenv("CARILLON_TEST_ETCD"); other != "" && name == "etcd" {
		return other, nil
	}
	dir, err := Programs()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w: run make test-programs", err)
	}
	return path, nil
}
