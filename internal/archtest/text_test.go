package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A lock file that names the download host of its author works only where that host can be reached; the
// hashes identify the packages.
func TestLockFilesNameNoHosts(t *testing.T) {
	for _, name := range []string{"web/package-lock.json", "web/.npmrc"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if strings.Contains(line, `"resolved": "http`) || strings.HasPrefix(strings.TrimSpace(line), "registry") {
				t.Errorf("%s:%d names a host: %s", name, i+1, strings.TrimSpace(line))
			}
		}
	}
}
