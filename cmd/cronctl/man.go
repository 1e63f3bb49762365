package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (c *cli) man() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages to a folder",
		Long: "Write a manual page for each command to a folder: cronctl.1, cronctl-run.1 and so on. The folder is " +
			"created if missing.",
		Example: `  cronctl man ~/.local/share/man/man1
  man cronctl-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // public
				return cannot("cannot create the folder", err)
			}
			pages := 0
			err := eachCommand(cmd.Root(), func(cmd *cobra.Command) error {
				if cmd.Hidden || cmd.Name() == "help" {
					return nil
				}
				pages++
				file := filepath.Join(args[0], pageName(cmd)+".1")
				if err := os.WriteFile(file, []byte(manPage(cmd)), 0o644); err != nil { //nolint:gosec // public
					return cannot("cannot write a manual page", err)
				}
				return nil
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "wrote %d pages to %s\n", pages, args[0])
			return nil
		},
	}
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns a command's manual page, in the macros of man(7).
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	section := func(name string) { fmt.Fprintf(&b, ".SH %s\n", name) }
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"cronctl %s\" \"Carillon\"\n", roff(strings.ToUpper(pageName(cmd))), roff(version))
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(cmd.UseLine()))
	section("DESCRIPTION")
	fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(cmp.Or(cmd.Long, cmd.Short+".")))
	if len(cmd.Aliases) > 0 {
		section("ALIASES")
		fmt.Fprintf(&b, "%s\n", roff(strings.Join(cmd.Aliases, ", ")))
	}
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		section("EXAMPLES")
		fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(cmd.Example))
	}
	var others []string
	if cmd.HasParent() {
		others = append(others, pageName(cmd.Parent()))
	}
	for _, below := range cmd.Commands() {
		if !below.Hidden && below.Name() != "help" {
			others = append(others, pageName(below))
		}
	}
	if len(others) > 0 {
		section("SEE ALSO")
		for i, other := range others {
			end := ","
			if i == len(others)-1 {
				end = ""
			}
			fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(other), end)
		}
	}
	return b.String()
}

func manFlags(b *strings.Builder, section string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", section)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR", roff(name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
		}
		fmt.Fprintf(b, "\n%s\n", roff(usage))
	})
}

// roff escapes a text so that troff interprets nothing in it.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
