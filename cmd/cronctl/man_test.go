package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	s := newStage(t)
	s.runWith(nil, "man", dir).want(t, exitOK, "wrote")
	for page, texts := range map[string][]string{
		"cronctl.1": {".TH CRONCTL 1", ".SH EXAMPLES", `.BR cronctl\-run (1)`},
		"cronctl-run.1": {".SH SYNOPSIS", `\fB\-f, \-\-follow\fR`, ".SH OPTIONS OF ALL COMMANDS",
			`\-\-context\fR \fIstring`},
	} {
		data, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if !strings.Contains(string(data), text) {
				t.Errorf("%s does not say %q", page, text)
			}
		}
	}
	if got := roff(".TH a\\b\n'x"); got != "\\&.TH a\\eb\n\\&'x" {
		t.Errorf("%q", got)
	}
}

// Every command says what it does, and what its flags mean.
func TestCommands_HaveHelp(t *testing.T) {
	root, err := (&cli{}).root()
	if err != nil {
		t.Fatal(err)
	}
	_ = eachCommand(root, func(cmd *cobra.Command) error {
		if cmd.Short == "" || cmd.RunE == nil {
			t.Errorf("%s: what does it do?", cmd.CommandPath())
		}
		if len(cmd.Commands()) == 0 && cmd.Args == nil && cmd.ValidArgsFunction == nil {
			t.Errorf("%s says nothing of its arguments", cmd.CommandPath())
		}
		return nil
	})
}
