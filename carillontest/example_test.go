package carillontest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carillon"
	"carillon/carillontest"
)

func ExampleRun() {
	report := func(ctx context.Context) error {
		run := carillon.RunOf(ctx)
		fmt.Fprintf(run, "report of %s, attempt %d\n", run.PlannedAt.Format(time.DateOnly), run.Attempt)
		return run.Output("pages", "3")
	}
	result := carillontest.Run(report,
		carillontest.PlannedAt(time.Date(2031, 3, 4, 6, 0, 0, 0, time.UTC)),
		carillontest.Attempt(2),
		carillontest.Job(carillon.Outputs("pages")))
	fmt.Println(result.Status, result.Outputs["pages"])
	fmt.Print(result.Output)
	// Output:
	// succeeded 3
	// report of 2031-03-04, attempt 2
}

// The cause with which the context ends determines the outcome, as in a cluster.
func ExampleContext() {
	ctx, cancel := context.WithCancelCause(context.Background())
	result := carillontest.Run(func(ctx context.Context) error {
		cancel(carillon.ErrStopping)
		<-ctx.Done()
		return errors.New("interrupted")
	}, carillontest.Context(ctx))
	fmt.Println(result.Status, result.Reason)
	// Output: killed worker_stopping
}

func ExampleRun_exitCode() {
	later := func(context.Context) error { return carillon.Exit(75, errors.New("the bank is closed")) }
	result := carillontest.Run(later)
	fmt.Println(result.Status, result.Reason, result.ExitCode, result.Text)
	// Output: failed error 75 the bank is closed
}
