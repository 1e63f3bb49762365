package config

import (
	"os"
	"path/filepath"
	"testing"

	"carillon/internal/common"
)

// FuzzFile reads whatever file: what is wrong with it is told, and never quoted where it may be a secret.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{"", "listen: 127.0.0.1:1\n", "tls:\n  cert: a\n", "a: &a [*a]", "? x\n: y",
		"listen: |\n  x\n---\n", "{", "\t", "etcd: {endpoints: [http://a:1]}", "log: {level: debug}"} {
		f.Add([]byte(seed))
	}
	samples, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, sample := range samples {
		data, err := os.ReadFile(sample)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "a.yaml")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadMaster(parse(t, MasterFlags, "--config", path), nil); err != nil &&
			common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("%v", err)
		}
		if _, err := LoadWorker(parse(t, WorkerFlags, "--config", path), nil); err != nil &&
			common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("%v", err)
		}
	})
}
