package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"carillon"
)

// sendInvoices sends the invoices of the interval. It returns early when its context ends: the next attempt continues.
func sendInvoices(ctx context.Context) error {
	run := carillon.RunOf(ctx)
	sent := 0
	for _, customer := range customersOf(run.PlannedAt) {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("after %d invoices: %w", sent, context.Cause(ctx))
		}
		fmt.Fprintf(run, "invoice for %s, fence %d\n", customer, run.Fence) // a mail server would compare the fence
		sent++
	}
	if sent == 0 {
		return carillon.Skip("no customer has an invoice due")
	}
	return run.Output("count", strconv.Itoa(sent))
}

// sendReminders runs after each successful run of sendInvoices.
func sendReminders(ctx context.Context) error {
	carillon.Logger(ctx).Info("reminders sent")
	return nil
}

// closeMonth is the first step of the flow. Its output is the input of the next one.
func closeMonth(ctx context.Context) error { return carillon.RunOf(ctx).Output("total", "1250.00") }

// exitNoTotal is an exit code for retry.exitCodes and for the edges of flows.
const exitNoTotal = 65

// reportMonth is the second step.
func reportMonth(ctx context.Context) error {
	run := carillon.RunOf(ctx)
	if run.Params["TOTAL"] == "" {
		return carillon.Exit(exitNoTotal, errors.New("no total"))
	}
	fmt.Fprintf(run, "the total is %s\n", run.Params["TOTAL"])
	return nil
}

// customersOf returns the customers whose invoices are due on a day.
func customersOf(day time.Time) []string {
	if day.Weekday() == time.Wednesday {
		return nil
	}
	return []string{"Ada", "Grace"}
}
