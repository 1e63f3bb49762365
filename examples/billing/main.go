// Command billing is an example of a program whose functions run as jobs of Carillon: an invoice run on weekdays,
// reminders after it, and a flow of functions at the end of the month.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"carillon"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "billing: %v\n", err)
		os.Exit(1)
	}
}

// run declares the jobs and runs their fires until ctx ends.
func run(ctx context.Context) error {
	app, err := carillon.Open(carillon.Config{
		App:   "billing",
		Group: "finance",
		Slots: 8,
		Etcd:  carillon.Etcd{Endpoints: strings.Split(setting("ETCD_ENDPOINTS", "http://127.0.0.1:2379"), ",")},
		Store: setting("MONGODB_URI", "mongodb://127.0.0.1:27017"),
		API: carillon.API{
			URL:   setting("CARILLON_SERVER", "http://127.0.0.1:7070"),
			Token: os.Getenv("CARILLON_TOKEN"),
		},
		Dir: os.Getenv("BILLING_DIR"),
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	declare(app)
	return app.Run(ctx)
}

// declare declares the functions and their jobs.
func declare(app *carillon.App) {
	app.Func("invoices", "0 6 * * MON-FRI", sendInvoices,
		carillon.Timezone("Europe/Berlin"),
		carillon.Overlap("queue"),
		carillon.Retry(3, time.Minute),
		carillon.Outputs("count"))
	app.Func("reminders", "", sendReminders, carillon.After("billing.invoices"))
	app.Handle("close", closeMonth)
	app.Handle("report", reportMonth)
	app.Define(carillon.Job{
		Name:     "billing.month",
		CronExpr: "0 1 1 * *",
		Steps: []carillon.Step{
			{Name: "close", Func: "close", Outputs: map[string]carillon.Output{"total": {Required: true}}},
			{
				Name:  "report",
				Func:  "report",
				After: []carillon.Edge{{Step: "close"}},
				Env:   map[string]string{"TOTAL": "${{ steps.close.outputs.total }}"},
			},
		},
	})
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
