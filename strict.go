package carillon

import (
	"log/slog"
	"os"
)

// exitStuck is the exit code of a strict process whose function does not return in time.
const exitStuck = 70

// endProcess ends the process at once, since a goroutine cannot be killed: after this, another process may run the job.
func endProcess(log *slog.Logger, run string) {
	log.Error("function_outlived_its_run", "run", run)
	os.Exit(exitStuck)
}
