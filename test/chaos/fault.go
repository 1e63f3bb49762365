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
	// does it, lasts it out, and undoes it. It returns early, with an error, only
	// where it could not be made.
	run   func(context.Context, *strike) error
	takes time.Duration // until run returns, as a rule: fires go on for so long
	needs []resource    // what no other fault may touch meanwhile
	alone bool          // is not mixed with others: it takes too long, or everything

	jobs      setLike       // of the set that runs meanwhile
	unharmed  bool          // no running command may die of it
	permitted []check.Rule  // violations that cannot be excluded under it, by docs/reliability.md
	rest      time.Duration // how long it may take until all is settled, beyond the usual
	env       []string      // of the workers
	disk      int64         // bytes of each worker's disk; 0: that of the machine
	passwords bool          // etcd asks for passwords in the whole trial
	forgets   bool          // etcd loses what it had acknowledged, which no other fault is to meet
}

// resource is a part of the stack that faults break.
type resource string

const (
	aWorker  resource = "worker" // whichever the strike has drawn
	theEtcd  resource = "etcd"
	theStore resource = "store"
	theHeads resource = "masters"
	theHands resource = "commands"
)

// strike is one fault in one trial.
type strike struct {
	*trial
	w     *worker // that it is about, where it is about one
	rng   *rand.Rand
	fault fault
}

// faults are all that can be made.
func faults() []fault {
	return slices.Concat(killFaults(), stopFaults(), hideFaults(), starveFaults(), cutFaults(), etcdFaults(), clockFaults(), masterFaults(), jobFaults(), storeFaults(), diskFaults(), commandFaults(), loadFaults())
}

// named finds one.
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

// errPromise says that a fault was made, and a promise broken by it.
var errPromise = errors.New("a promise is broken")

// etcdBack waits until etcd takes writes again.
func (s *strike) etcdBack(ctx context.Context) error {
	return s.wait(ctx, time.Minute, "etcd takes writes again", func() bool { return s.etcdAnswers(ctx) })
}
