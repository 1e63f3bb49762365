// Package schedules serves previews of cron expressions, forecasts of planned fires, and conversions of crontabs. It
// writes nothing.
package schedules
