package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

const maxPassword = 1024

func (c *cli) passwd() *cobra.Command {
	return &cobra.Command{
		Use:   "passwd",
		Short: "Change your own password",
		Long: `Change your own password. passwd asks for the current password and twice for the new one;
from a pipe it reads both, one per line. All your sessions end; tokens stay valid.`,
		Example: "  cronctl passwd",
		Args:    cobra.NoArgs,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, _ []string) error {
			current, fresh, err := c.passwords()
			if err != nil {
				return err
			}
			if _, err := apiclient.Read(api.ChangePassword(ctx, apiclient.ChangePasswordJSONRequestBody{
				Current: current,
				New:     fresh,
			})); err != nil {
				return err
			}
			fmt.Fprintln(c.stdout, "password changed; all your sessions are ended")
			return nil
		}),
	}
}

// passwords asks for the current password and the new one.
func (c *cli) passwords() (current, fresh string, err error) {
	if !c.interactive() {
		both, err := c.secretFrom("the two passwords", 2*maxPassword+2)
		if err != nil {
			return "", "", err
		}
		current, fresh, found := strings.Cut(both, "\n")
		if !found {
			return "", "", invalid("no new password", "send the current password and the new one, each on its own line")
		}
		return strings.TrimSuffix(current, "\r"), fresh, nil
	}
	if current, err = c.askSecret("Current password: "); err == nil {
		fresh, err = c.askTwice("New password: ")
	}
	return current, fresh, err
}

// askTwice asks for a new secret twice, so that typing errors are noticed.
func (c *cli) askTwice(question string) (string, error) {
	once, err := c.askSecret(question)
	if err != nil {
		return "", err
	}
	again, err := c.askSecret("Repeat: ")
	if err == nil && once != again {
		err = common.Errorf(common.CodeInvalid, "the two entries differ")
	}
	return once, err
}
