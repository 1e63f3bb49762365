package namedlock_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/etcdkit/namedlock"
)

func holder(session string) *namedlock.Holder {
	return &namedlock.Holder{LockHolder: common.LockHolder{Session: session}, Created: 7, Lease: 1}
}

func owner(id, session string, state common.LockState) *namedlock.Owner {
	return &namedlock.Owner{Revision: 8, LockOwner: common.LockOwner{
		ID:        id,
		Session:   session,
		State:     state,
		LockTerms: namedlock.TermsOf(10*time.Second, 100*time.Second),
	}}
}

func TestView_Next(t *testing.T) {
	const seen = 50 * time.Second
	grace := seen + 100*time.Second + 2*time.Second + time.Second
	me := &namedlock.Client{ID: "me", Session: "mine"}
	place := &namedlock.Place{Created: 9}
	alive := func(namedlock.Process) bool { return false }
	dead := func(namedlock.Process) bool { return true }
	for name, c := range map[string]struct {
		view namedlock.View
		dead func(namedlock.Process) bool
		now  time.Duration
		want namedlock.Step
		end  time.Duration
	}{
		"never used": {want: namedlock.Take},
		"released": {
			view: namedlock.View{Owner: owner("x", "x", common.LockReleased)},
			want: namedlock.Take,
		},
		"others wait":           {view: namedlock.View{Before: "k"}, want: namedlock.Behind},
		"mine":                  {view: namedlock.View{Holder: holder("mine"), Before: "k"}, want: namedlock.Held},
		"first behind a holder": {view: namedlock.View{Holder: holder("x"), Place: place}, want: namedlock.First},
		"second behind a holder": {
			view: namedlock.View{Holder: holder("x"), Place: place, Before: "k"},
			want: namedlock.Behind,
		},
		"my lease expired": {
			view: namedlock.View{Owner: owner("me", "mine", common.LockHeld), Before: "k"},
			want: namedlock.Back,
		},
		"my lease expired after the release": {
			view: namedlock.View{Owner: owner("me", "mine", common.LockReleased), Before: "k"},
			want: namedlock.Behind,
		},
		"earlier life of unknown state": {
			view: namedlock.View{Owner: owner("me", "earlier", common.LockHeld)},
			now:  seen, want: namedlock.Grace, end: grace,
		},
		"earlier life is dead": {
			view: namedlock.View{Owner: owner("me", "earlier", common.LockHeld), Before: "k"},
			dead: dead, want: namedlock.Resume,
		},
		"dead process of another id": {
			view: namedlock.View{Owner: owner("x", "x", common.LockHeld)},
			dead: dead, now: seen, want: namedlock.Grace, end: grace,
		},
		"just before the end of grace": {
			view: namedlock.View{Owner: owner("x", "x", common.LockHeld), Place: place},
			now:  grace - 1, want: namedlock.Grace, end: grace,
		},
		"after grace": {
			view: namedlock.View{Owner: owner("x", "x", common.LockHeld), Place: place},
			now:  grace, want: namedlock.Over, end: grace,
		},
		"after grace, not first": {
			view: namedlock.View{Owner: owner("x", "x", common.LockHeld), Place: place, Before: "k"},
			now:  grace, want: namedlock.Behind,
		},
	} {
		if c.dead == nil {
			c.dead = alive
		}
		var absence namedlock.Absence
		absence.See(&c.view, seen)
		got, end := c.view.Next(me, &absence, c.now, c.dead)
		if got != c.want || got == namedlock.Grace && end != c.end {
			t.Errorf("%s: %v until %v, want %v until %v", name, got, end, c.want, c.end)
		}
	}
}

func TestAbsence_BeginsAgainWithEachChangeOfTheOwner(t *testing.T) {
	gone := namedlock.View{Owner: owner("x", "x", common.LockHeld)}
	later := namedlock.View{Owner: owner("x", "x", common.LockHeld)}
	later.Owner.Revision++
	back := namedlock.View{Owner: later.Owner, Holder: holder("x")}
	var a namedlock.Absence
	a.See(&gone, time.Second)
	a.See(&gone, time.Minute)
	if end, absent := a.End(&gone); !absent || end != time.Second+gone.Owner.Succession() {
		t.Errorf("absent %v until %v", absent, end)
	}
	if _, absent := a.End(&later); absent {
		t.Error("the absence of an earlier owner counts")
	}
	a.See(&later, time.Minute)
	if end, _ := a.End(&later); end != time.Minute+gone.Owner.Succession() {
		t.Errorf("end %v", end)
	}
	a.See(&back, 2*time.Minute)
	if _, absent := a.End(&later); absent {
		t.Error("absent while there is a holder")
	}
}

func TestDead(t *testing.T) {
	self := namedlock.Self()
	if self.PID != os.Getpid() || self.BootID == "" || self.Started == 0 {
		t.Fatalf("%+v", self)
	}
	child := exec.Command("/bin/true")
	if err := child.Run(); err != nil { // it has ended, and its id was just free
		t.Fatal(err)
	}
	with := func(change func(*namedlock.Process)) namedlock.Process {
		p := self
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		process namedlock.Process
		want    bool
	}{
		"this process":      {self, false},
		"an ended one":      {with(func(p *namedlock.Process) { p.PID = child.Process.Pid; p.Started = 1 }), true},
		"its id was reused": {with(func(p *namedlock.Process) { p.Started-- }), true},
		"another boot":      {with(func(p *namedlock.Process) { p.BootID = "x"; p.Started-- }), false},
		"another namespace": {with(func(p *namedlock.Process) { p.PIDNamespace = "x"; p.Started-- }), false},
		"a session":         {namedlock.Process{}, false},
	} {
		if got := namedlock.Dead(c.process); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
