package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) edit() *cobra.Command {
	return group("edit", "Edit a job in an editor", "  EDITOR=nano cronctl edit job nightly-report", c.editJob())
}

func (c *cli) editJob() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:     "job NAME",
		Aliases: []string{"jobs"},
		Short:   "Edit a job in an editor",
		Long: `Edit a job in an editor: VISUAL, else EDITOR, else vi. The saved text is sent when the
editor exits. If the server refuses it, the editor opens again with the errors at the top. An
empty or unchanged file changes nothing. If another user has changed the job in the meantime,
nothing is written, and your text is kept in a file.`,
		Example: `  cronctl edit job nightly-report
  EDITOR='code --wait' cronctl edit job nightly-report`,
		Args: valid("job", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			raw, err := apiclient.Decode[json.RawMessage](api.GetJob(ctx, args[0]))
			if err != nil {
				return err
			}
			return c.editText(ctx, api, raw, note)
		}),
	}
	cmd.Flags().StringVar(&note, "note", "", "reason; stored with the version")
	return cmd
}

// editText lets the user edit a job until the server accepts it.
func (c *cli) editText(ctx context.Context, api *apiclient.API, raw json.RawMessage, note string) error {
	j, err := decode[job](raw)
	if err != nil {
		return err
	}
	if value(j.Meta.Hidden) {
		return common.Errorf(common.CodeForbidden, "parts of this job are hidden from you, so you cannot edit it")
	}
	defined, err := asDefined(raw)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cronctl-") // private: a job may contain secrets
	if err != nil {
		return &common.Error{Code: common.CodeInternal, Message: "cannot create a temporary folder", Err: err}
	}
	file, keep := filepath.Join(dir, j.Name+".yaml"), false
	defer func() {
		if !keep {
			_ = os.RemoveAll(dir) // leftovers are readable by this user only
		}
	}()
	head := fmt.Sprintf("# Job %s. The saved text is sent when the editor exits; an empty file changes nothing.\n",
		j.Name)
	body := defined.yaml
	var refused error
	for {
		if err := os.WriteFile(file, append([]byte(head), body...), 0o600); err != nil {
			return &common.Error{Code: common.CodeInternal, Message: "cannot write the text", Err: err}
		}
		if err := c.openEditor(ctx, file); err != nil {
			return err
		}
		data, err := c.readText(file, maxFile)
		if err != nil {
			return err
		}
		text := withoutHead(data)
		switch {
		case refused != nil && (len(bytes.TrimSpace(text)) == 0 || bytes.Equal(text, body)):
			keep = true
			report(c.stderr, refused)
			fmt.Fprintf(c.stderr, "nothing was changed; your text is in %s\n", file)
			return exitError(exitCode(ctx, refused))
		case len(bytes.TrimSpace(text)) == 0 || bytes.Equal(text, defined.yaml):
			fmt.Fprintln(c.stdout, "nothing was changed")
			return nil
		}
		refused = c.sendEdited(ctx, api, &j, text, note)
		e, ok := asError(refused)
		switch {
		case refused == nil:
			fmt.Fprintf(c.stdout, "saved %s\n", j.Name)
			return nil
		case !ok || e.Code != common.CodeInvalid:
			keep = true
			fmt.Fprintf(c.stderr, "nothing was changed; your text is in %s\n", file)
			if e.Code == common.CodeStale {
				return hinted(e.Code, "conflict: "+j.Name+" was changed in the meantime",
					"edit the new version: cronctl edit job "+j.Name)
			}
			return refused
		}
		head, body = faultsAsComment(refused), text
	}
}

// sendEdited saves the edited text, unless the job has changed since it was read.
func (c *cli) sendEdited(ctx context.Context, api *apiclient.API, before *job, text []byte, note string) error {
	values, err := split(text)
	if err != nil {
		return cannot("cannot parse the text", err)
	}
	if len(values) != 1 {
		return common.Errorf(common.CodeInvalid, "expected one job, found %d", len(values))
	}
	var name struct{ Name string }
	if err := json.Unmarshal(values[0], &name); err != nil || name.Name != before.Name {
		return common.Errorf(common.CodeInvalid, "the name of job %s cannot be changed", before.Name)
	}
	params := apiclient.PutJobParams{IfMatch: tag(before.Meta.Version), Note: set(note)}
	_, err = apiclient.Read(api.PutJobWithBody(ctx, before.Name, &params, jsonType, bytes.NewReader(values[0])))
	return err
}

// openEditor runs the editor and waits for its exit. Like git, it takes the value as a command line for the
// shell.
func (c *cli) openEditor(ctx context.Context, file string) error {
	editor := cmp.Or(c.env["VISUAL"], c.env["EDITOR"], "vi")
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$1"`, editor, file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.stdin, c.screen, c.screen
	if err := cmd.Run(); err != nil {
		return common.Errorf(common.CodeInvalid, "editor %s failed; nothing was changed", common.Excerpt(editor)).
			WithCause(err).WithHint("set another one with EDITOR")
	}
	return nil
}

// withoutHead removes the comment lines at the beginning.
func withoutHead(data []byte) []byte {
	for bytes.HasPrefix(data, []byte("#")) {
		_, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
	}
	return data
}

func faultsAsComment(err error) string {
	var b, text strings.Builder
	report(&text, err)
	b.WriteString("# The server refused this; exit without a change to cancel.\n")
	for line := range strings.Lines(text.String()) {
		b.WriteString("# " + oneLine(strings.TrimPrefix(line, "cronctl: ")) + "\n")
	}
	return b.String()
}
