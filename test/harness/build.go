package harness

import (
	"os"
	"os/exec"
)

// Build returns a command that builds a program, with the flags of the Makefile: then both share what Go has compiled.
func Build(args ...string) *exec.Cmd {
	build := exec.Command("go", append([]string{"build"}, args...)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false")
	return build
}
