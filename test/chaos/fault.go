package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"carillon/test/chaos/check"
)

// fault is a failure, or an action of a person at a bad time.
type fault struct {
	name  string
	about string
	// does it, lasts it out, and undoes it. It returns early, with an error, only if it could not be
	// injected.
	run   func(context.Context, *strike) error
	takes time.Duration // until run returns, usually: fires continue for so long
	needs []resource    // resources that no other fault may use meanwhile
	alone bool          // is not combined with others: it takes too long, or needs everything

	jobs      setLike       // of the set that runs meanwhile
	unharmed  bool          // no running command may die of it
	permitted []check.Rule  // violations that cannot be excluded under it, by docs/reliability.md
	rest      time.Duration // extra time until all is settled
	env       []string      // of the workers
	disk      int64         // bytes of each worker's disk; 0: that of the machine
	passwords bool          // etcd requires passwords during the trial
	forgets   bool          // etcd loses acknowledged writes, which must not meet other faults
}

// resource is a part of the stack that faults affect.
type resource string

const (
	aWorker  resource = "worker" // the one drawn by the strike
	theEtcd  resource = "etcd"
	theStore resource = "store"
	theHeads resource = "masters"
	theHands resource = "commands"
	// the daemon jobs
	theDaemons resource = "daemons"
)

// strike is one fault in one trial.
type strike struct {
	*trial
	w     *worker // the affected worker, if there is one
	rng   *rand.Rand
	fault fault
}

// faults returns all faults.
func faults() []fault {
	return slices.Concat(killFaults(), stopFaults(), hideFaults(), starveFaults(), cutFaults(), etcdFaults(),
		clockFaults(), masterFaults(), jobFaults(), storeFaults(), diskFaults(), commandFaults(), loadFaults(),
		daemonFaults())
}

// named returns a fault by its name.
func named(name string) (fault, error) {
	var names []string
	for _, f := range faults() {
		if f.name == name {
			return f, nil
		}
		names = append(names, f.name)
	}
	return fault{}, fmt.Errorf("there is no fault %q; there are %s", name, strings.Join(names, " "))
}

// say prints progress.
func (s *strike) say(format string, args ...any) {
	what := s.fault.name
	if s.w != nil {
		what += " " + s.w.name
	}
	s.trial.say("%s: "+format, append([]any{what}, args...)...)
}

// errPromise reports that a fault was injected, and violated a guarantee.
var errPromise = errors.New("a promise is broken")

// etcdBack waits until etcd accepts writes again.
func (s *strike) etcdBack(ctx context.Context) error {
	return s.wait(ctx, time.Minute, "etcd takes writes again", func() bool { return s.etcdAnswers(ctx) })
}
