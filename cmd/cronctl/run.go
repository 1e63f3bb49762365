package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/common"
)

// cli is one invocation of the program.
type cli struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	screen         io.Writer // unfiltered stdout, for programs that draw on it
	screenErr      io.Writer // unfiltered stderr
	env            environment

	context, server, tokenText, tokenFile string
	ca, cert, key                         string
	insecure                              bool
	format                                string
	watch                                 bool
	seen                                  *seen // set if a list is watched
}

// runFunc is what a command runs.
type runFunc = func(cmd *cobra.Command, args []string) error

// run executes the program and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) int {
	c := &cli{stdin: stdin, stdout: stdout, stderr: stderr, screen: stdout, screenErr: stderr,
		env: environmentOf(environ)}
	if terminal(stdout) {
		safe := &sanitizer{to: stdout}
		defer safe.Close()
		c.stdout = safe
	}
	if terminal(stderr) {
		safe := &sanitizer{to: stderr}
		defer safe.Close()
		c.stderr = safe
	}
	root, err := c.root()
	if err != nil {
		report(c.stderr, err)
		return exitUsage
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	report(c.stderr, err)
	if _, ours := errors.AsType[*common.Error](err); err != nil && !ours {
		if _, silent := errors.AsType[exitError](err); !silent && ctx.Err() == nil {
			fmt.Fprintf(c.stderr, "  hint: usage: %s; see --help\n", cmd.UseLine())
		}
	}
	return exitCode(ctx, err)
}

const rootHelp = `cronctl is the command-line client of Carillon: it defines jobs, runs them, prints their
output, shows the state of the cluster, and imports crontabs.

"cronctl login SERVER" saves a server and a token as a context. The server is taken from,
in this order: --context, --server, CARILLON_SERVER, CARILLON_CONTEXT, the current context,
` + defaultServer + `. The token is taken from --token, --token-file, CARILLON_TOKEN,
CARILLON_TOKEN_FILE or the context. For a server on this machine the default is the token
that a standalone wrote: ./data/admin.token, or admin.token in its data folder
(CARILLON_DATA_DIR, by default ~/.local/state/carillon).

Exit codes: 0 success, 1 the job or check failed, 2 wrong usage or input, 3 not found,
4 conflict, 5 permission denied, 6 server unavailable, 130 interrupted.`

const rootExamples = `  crontab -l | cronctl import-crontab - --dry-run
  cronctl create job hello --cron '*/5 * * * *' -- echo hello
  cronctl run hello --follow
  cronctl get runs --job hello
  cronctl search 'disk full' --from -1d
  cronctl status
  cronctl fires hello --next 10
  cronctl next '30 2 * * MON-FRI' --timezone Asia/Shanghai`

func (c *cli) root() (*cobra.Command, error) {
	root := &cobra.Command{
		Use:           "cronctl",
		Short:         "Define, run and watch the jobs of Carillon",
		Long:          rootHelp,
		Example:       rootExamples,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := root.PersistentFlags()
	f.StringVar(&c.context, "context", "", "saved server to use (CARILLON_CONTEXT; default: the current context)")
	f.StringVar(&c.server, "server", "",
		"URL of the API (CARILLON_SERVER; default: the context's, else "+defaultServer+")")
	f.StringVar(&c.tokenText, "token", "", "access token; prefer a file, since other users can see command lines")
	f.StringVar(&c.tokenFile, "token-file", "", "file with the access token")
	f.StringVar(&c.ca, "ca-file", "", "CA certificates to verify the server (CARILLON_CA_FILE; default: the system's)")
	f.StringVar(&c.cert, "cert-file", "", "client certificate (CARILLON_CERT_FILE)")
	f.StringVar(&c.key, "key-file", "", "key of the client certificate (CARILLON_KEY_FILE)")
	f.BoolVar(&c.insecure, "insecure-http", false, "allow sending the token over plain HTTP to another machine")
	f.StringVarP(&c.format, "output", "o", "table", "output format: table, wide (no cell is cut), json or yaml")
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		switch c.format {
		case "table", "wide", "json", "yaml":
			return refuseBlank(cmd, args)
		}
		return invalid(fmt.Sprintf("unknown output format %q", common.Shorten(c.format)),
			"use table, wide, json or yaml")
	}
	root.AddCommand(
		c.get(), c.describe(), c.status(), c.doctor(), c.recover(), c.create(), c.apply(), c.diff(), c.edit(),
		c.patch(), c.rollback(), c.rotate(), c.export(), c.remove(), c.runJob(), c.logs(), c.search(), c.kill(),
		c.pause(), c.resume(), c.restart(), c.scale(),
		c.nodes(), c.approve(), c.reject(), c.graph(), c.flow(), c.validate(),
		c.lock(), c.release(), c.maintenance(),
		c.ack(), c.rerun(), c.backfill(), c.fires(), c.next(), c.forecast(), c.stats(),
		c.drain(), c.undrain(), c.set(), c.label(), c.test(), c.retry(),
		c.importCrontab(), c.login(), c.logout(), c.whoami(), c.passwd(), c.contexts(), c.audit(), c.man(), c.version(),
	)
	return root, c.completions(root)
}

func (c *cli) set() *cobra.Command {
	return group("set", "Change a worker, user, secret, hook or defaults",
		"  cronctl set worker north --slots 4 --weight 2\n  cronctl set user ann --role operator\n"+
			"  cronctl set defaults shop retry.max=3",
		c.setWorker(), c.setUser(), c.setSecret(), c.setHook(), c.setDefaults())
}

// group creates a command that only has subcommands.
func group(use, short, example string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Example: example, Args: cobra.NoArgs}
	cmd.RunE = func(*cobra.Command, []string) error {
		var names []string
		for _, b := range below {
			names = append(names, b.Name())
		}
		return invalid("no object to "+use+" given", "use cronctl "+use+" "+strings.Join(names, "|"))
	}
	cmd.AddCommand(below...)
	return cmd
}
