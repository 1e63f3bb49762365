package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"carillon/cmd/internal/daemon"
	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/platform/config"
)

// typesCommand lists the types of this machine, and checks plug-ins.
func typesCommand(environ []string, stdout io.Writer) *cobra.Command {
	var check string
	cmd := &cobra.Command{
		Use:   "types",
		Short: "List the types that this machine offers, or check a plug-in",
		Long: `types lists the types of jobs that this machine offers, and why it does not offer the other
plug-ins in typesDir. Run it as the user of the worker.

With --check it checks a plug-in against protocol 1: that it describes itself, refuses settings
that its schema refuses with exit code 64, and ends. The file may be anywhere; its name must be
carillon-type-NAME. Exit code 1: a check has failed.`,
		Example: `  carillon-worker types --config /etc/carillon/worker.yaml
  carillon-worker types --check ./carillon-type-sql`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&check, "check", "", "plug-in to check against the protocol")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		settings, err := config.LoadTypes(cmd.Flags(), environ)
		if err != nil {
			return err
		}
		dir, err := os.MkdirTemp("", "carillon-types-")
		if err != nil {
			return daemon.Failed(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		plugIns := executor.PlugIns{Dir: settings.TypesDir, Allow: settings.TypesAllow}
		if check != "" {
			plugIns = executor.PlugIns{}
		}
		x, err := executor.New(executor.Config{BaseDir: dir, PlugIns: plugIns})
		if err != nil {
			return daemon.Failed(err)
		}
		defer func() { _ = x.Close() }()
		if check == "" {
			return printTypes(stdout, x.TypeReports())
		}
		file, err := filepath.Abs(check)
		if err != nil {
			return daemon.Failed(err)
		}
		return printChecks(stdout, x.CheckPlugIn(cmd.Context(), file))
	}
	return cmd
}

func printTypes(stdout io.Writer, types []executor.TypeReport) error {
	out := tabwriter.NewWriter(stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(out, "TYPE\tVERSION\tFILE\tOFFERED")
	fmt.Fprintf(out, "%s\t1\t-\tyes\n", common.TypeHTTP)
	for _, t := range types {
		offered, version, file := "yes", t.Version, t.File
		if t.Problem != "" {
			offered, version = "no: "+common.Excerpt(t.Problem), "-"
		}
		if file == "" {
			file = "-"
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", common.Excerpt(t.Name), version, file, offered)
	}
	return out.Flush()
}

func printChecks(stdout io.Writer, checks []executor.PlugInCheck) error {
	failed := 0
	for _, c := range checks {
		if c.Problem == "" {
			fmt.Fprintf(stdout, "ok    %s\n", c.Name)
			continue
		}
		failed++
		fmt.Fprintf(stdout, "FAIL  %s: %s\n", c.Name, common.Excerpt(c.Problem))
	}
	if failed > 0 {
		return daemon.Failed(fmt.Errorf("%s failed", common.Count(failed, "check", "checks")))
	}
	return nil
}
