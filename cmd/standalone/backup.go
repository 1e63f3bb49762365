package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"carillon/cmd/internal/daemon"
	"carillon/internal/common"
	"carillon/internal/master/datadir"
	"carillon/internal/platform/config"
	"carillon/internal/runlog/sqlitelog"
)

func backupCommand(environ []string, stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write the history to a file, even while running",
		Long: `backup writes the history of the data folder (runs, output, statistics, audit) to FILE, as a
consistent snapshot. The standalone may be running. FILE must not exist; it appears when it is
complete and verified.

Jobs are not included: "cronctl export -o jobs.yaml" writes them. To restore, copy FILE to
` + datadir.RunLog + ` in a new data folder, start the standalone on it, and run
"cronctl create jobs -f jobs.yaml".`,
		Example: `  carillon-standalone backup /backup/runs.sqlite --data-dir /var/lib/carillon`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := config.LoadStandalone(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return daemon.Failed(backup(ctx, cfg.DataDir, args[0], stdout))
		},
	}
}

func backup(ctx context.Context, dataDir, file string, stdout io.Writer) error {
	contents, err := sqlitelog.BackupFile(ctx, filepath.Join(dataDir, datadir.RunLog), file)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("stat backup: %w", err)
	}
	fmt.Fprintf(stdout, "wrote %s: %s", file, common.Count(contents.Runs, "run or fire", "runs and fires"))
	if contents.Runs > 0 {
		fmt.Fprintf(stdout, ", the newest planned for %s", contents.Newest.Local().Format(time.DateTime))
	}
	fmt.Fprintf(stdout, "; %d KiB\nJobs are not included: cronctl export -o jobs.yaml\n", info.Size()>>10)
	return nil
}
