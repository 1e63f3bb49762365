package runlog_test

import (
	"context"
	"fmt"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// outbox is a source with one outcome. Its Ack is called once the store has the outcome.
type outbox struct{ runs []common.Run }

func (o *outbox) Pending(context.Context, int) (runlog.Pending, error) {
	ack := func(context.Context) error { o.runs = nil; return nil }
	return runlog.Pending{Batch: runlog.Batch{Runs: o.runs}, Ack: ack}, nil
}

// printer is a log store that prints the outcomes that it receives.
type printer struct{}

func (printer) Write(_ context.Context, b runlog.Batch) error {
	for _, run := range b.Runs {
		fmt.Println("stored", run.ID, run.Status)
	}
	return nil
}

// An outcome stays in the outbox until the store has it.
func ExampleDeliver() {
	source := &outbox{runs: []common.Run{{ID: "u.1.1", Job: "backup", Status: common.StatusSucceeded}}}
	n, err := runlog.Deliver(context.Background(), source, printer{})
	fmt.Println(n, len(source.runs), err)
	// Output:
	// stored u.1.1 succeeded
	// 1 0 <nil>
}

// The ledger has one entry for a fire: its status is that of the last attempt.
func ExampleFireOf() {
	fire := runlog.FireOf([]common.Run{
		{ID: "u.1.1", Fire: "u.1", Attempt: 1, Status: common.StatusFailed},
		{ID: "u.1.2", Fire: "u.1", Attempt: 2, Status: common.StatusSucceeded},
	})
	fmt.Println(fire.ID, fire.Status, fire.Attempts)
	// Output: u.1 succeeded [u.1.1 u.1.2]
}
