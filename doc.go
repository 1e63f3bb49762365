// Package carillon runs functions of a program as jobs of Carillon, a distributed cron.
//
// A program opens an App, declares its functions with their schedules, and runs it:
//
//	app, err := carillon.Open(carillon.Config{App: "billing", ...})
//	app.Func("invoices", "0 6 * * MON-FRI", sendInvoices, carillon.Timezone("Europe/Berlin"))
//	err = app.Run(ctx)
//
// Each function is a job named <app>.<name>. Any number of processes of the program share the fires: each fire is
// claimed by one of them, as by workers that run commands. docs/sdk.md is the tutorial.
package carillon
