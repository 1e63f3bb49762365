package main

import (
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
		Long: `Change your own password. It asks for the password as it is and for the new one, twice;
from a pipe it reads both, a line each. All sessions of yours are over then; tokens stay.`,
		Example: "  cronctl passwd",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			current, fresh, err := c.passwords()
			if err != nil {
				return err
			}
			if _, err := apiclient.Read(api.ChangePassword(cmd.Context(), apiclient.ChangePasswordJSONRequestBody{Current: current, New: fresh})); err != nil {
				return err
			}
			fmt.Fprintln(c.stdout, "the password is changed, and all sessions are over")
			return nil
		},
	}
}

// passwords asks for the password as it is, and for a new one.
func (c *cli) passwords() (current, fresh string, err error) {
	if !c.asks() {
		both, err := c.secretFrom("the two passwords", 2*maxPassword+2)
		if err != nil {
			return "", "", err
		}
		current, fresh, found := strings.Cut(both, "\n")
		if !found {
			return "", "", &common.Error{Code: common.CodeInvalid, Message: "there is no new password", Hint: "write the password as it is, and the new one on a line of its own"}
		}
		return strings.TrimSuffix(current, "\r"), fresh, nil
	}
	if current, err = c.askSecret("Password as it is: "); err == nil {
		fresh, err = c.askTwice("New password: ")
	}
	return current, fresh, err
}

// askTwice asks for a new secret, so that a slip of the finger is noticed.
func (c *cli) askTwice(question string) (string, error) {
	once, err := c.askSecret(question)
	if err != nil {
		return "", err
	}
	again, err := c.askSecret("Once more: ")
	if err == nil && once != again {
		err = common.Errorf(common.CodeInvalid, "the two are not the same")
	}
	return once, err
}
