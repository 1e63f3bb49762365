package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/spf13/cobra"

	"carillon/internal/common"
	"carillon/internal/platform/config"
)

// What can be done about an error is said below it, however deep it is.
func TestErrorsAreToldWithTheirHints(t *testing.T) {
	full := &common.Error{Code: common.CodeUnavailable, Message: "the disk is full", Hint: "make room, and start again"}
	for _, c := range []struct {
		err  error
		said string
		code int
	}{
		{nil, "", 0},
		{errors.New("no such flag"), "carillon: no such flag\n", config.ExitCode},
		{full, "carillon: the disk is full\n  make room, and start again\n", config.ExitCode},
		{Failed(fmt.Errorf("open the run log: %w", full)),
			"carillon: open the run log: the disk is full\n  make room, and start again\n", exitFailed},
		{Failed(common.Errorf(common.CodeUnavailable, "no etcd")), "carillon: no etcd\n", exitFailed},
	} {
		var said bytes.Buffer
		cmd := &cobra.Command{Use: "carillon", RunE: func(*cobra.Command, []string) error { return c.err }}
		if code := Execute(cmd, []string{}, &said, &said); code != c.code || said.String() != c.said {
			t.Errorf("%v: %d, %q; want %d, %q", c.err, code, said.String(), c.code, c.said)
		}
	}
}
