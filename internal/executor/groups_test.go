package executor

import (
	"os/exec"
	"sync"
	"syscall"
	"testing"
)

func TestOutputGroups_ReachAllRuns(t *testing.T) {
	cmd := exec.Command("sleep", "300")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	var owner sync.WaitGroup
	g := groups{owner: &owner}
	lives := func(id int) bool {
		l := g.ask(id)
		<-l.ended
		return l.ids[id]
	}
	var askers sync.WaitGroup
	for range 50 {
		askers.Go(func() {
			if !lives(pid) || lives(1<<30) {
				t.Error("a living group is said to be gone, or the other way round")
			}
		})
	}
	askers.Wait()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lives(pid) { // its zombie is still there
	}
	_ = cmd.Wait() // it was killed
	owner.Wait()

	// Requests during a scan share the next one.
	g.scanning = true
	if first, second := g.ask(pid), g.ask(pid+1); first != second || len(first.ids) != 2 {
		t.Errorf("%+v, %+v", first, second)
	}
}
