package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/carillontest"
)

// A function is tested without etcd: carillontest calls it as Carillon does.
func TestSendInvoices(t *testing.T) {
	t.Parallel()
	tuesday := time.Date(2031, 3, 4, 5, 0, 0, 0, time.UTC)
	result := carillontest.Run(sendInvoices, carillontest.PlannedAt(tuesday), carillontest.Fence(42),
		carillontest.Job(carillon.Outputs("count")))
	if result.Status != "succeeded" || result.Outputs["count"] != "2" ||
		!strings.Contains(result.Output, "invoice for Ada, fence 42\n") {
		t.Errorf("%+v", result)
	}
	wednesday := tuesday.AddDate(0, 0, 1)
	if result := carillontest.Run(sendInvoices, carillontest.PlannedAt(wednesday)); result.Status != "skipped" {
		t.Errorf("%+v", result)
	}
}

func TestSendInvoices_Stopped_ReturnsEarly(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(carillon.ErrStopping)
	if result := carillontest.Run(sendInvoices, carillontest.Context(ctx)); result.Status != "killed" {
		t.Errorf("%+v", result)
	}
}

func TestReportMonth_NoTotal_HasAnExitCode(t *testing.T) {
	t.Parallel()
	if result := carillontest.Run(reportMonth); result.ExitCode != exitNoTotal {
		t.Errorf("%+v", result)
	}
	total := carillontest.Params(map[string]string{"TOTAL": "1250.00"})
	if result := carillontest.Run(reportMonth, total); result.Status != "succeeded" ||
		result.Output != "the total is 1250.00\n" {
		t.Errorf("%+v", result)
	}
}

// The declarations are checked as Run checks them.
func TestDeclare(t *testing.T) {
	t.Parallel()
	app, err := carillon.Open(carillon.Config{App: "billing", Store: "mongodb://127.0.0.1",
		Etcd: carillon.Etcd{Endpoints: []string{"http://127.0.0.1:2379"}}})
	if err != nil {
		t.Fatal(err)
	}
	declare(app)
	if err := app.Check(); err != nil {
		t.Error(err)
	}
}
