package system

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Who has lost the token of the first start, and can reach the data folder, gets in again.
func TestResetAdminOfTheStandalone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if p := start(t, "carillon-standalone", "reset-admin", "--data-dir", dir); p.exit() != 1 {
		t.Errorf("where nothing ever was: %s", p.Text())
	}
	p, _ := standalone(t, dir)
	if err := os.Remove(filepath.Join(dir, "admin.token")); err != nil {
		t.Fatal(err)
	}
	if reset := start(t, "carillon-standalone", "reset-admin", "--data-dir", dir); reset.exit() != 4 {
		t.Errorf("while it runs: %s", reset.Text())
	}
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("stopped with %d", code)
	}
	reset := start(t, "carillon-standalone", "reset-admin", "--data-dir", dir)
	if code := reset.exit(); code != 0 {
		t.Fatalf("it ended with %d: %s", code, reset.Text())
	}
	address := freePort(t)
	again := start(t, "carillon-standalone", "--data-dir", dir, "--listen", address)
	a := &api{t: t, base: "http://" + address, token: strings.TrimSpace(reset.Text())}
	eventually(t, "it is ready again", a.ready)
	eventually(t, "it says how to get in", func() bool { return strings.Contains(again.Text(), "reset-admin") })
	var me struct{ Role string }
	if a.do(http.StatusOK, http.MethodGet, "/api/v1/auth/me", nil, &me); me.Role != "admin" {
		t.Errorf("the token is good for %+v", me)
	}
	var audit string
	if a.do(http.StatusOK, http.MethodGet, "/api/v1/audit?actor=reset-admin", nil, &audit); !strings.Contains(audit,
		`"reset-admin"`) || strings.Contains(audit, a.token) {
		t.Errorf("the audit tells %s", audit)
	}
}
