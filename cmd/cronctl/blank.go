package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// freeTexts are the flags whose text may be empty. An empty text of any other one would mean all objects, or a default,
// where a script wanted to name something with a variable that is not set.
var freeTexts = []string{"note", "description", "title", "value", "prefix", "env", "param", "home"}

// refuseBlank refuses empty and blank arguments and flags. The words of a command after -- may be empty.
func refuseBlank(cmd *cobra.Command, args []string) error {
	if name := cmd.Name(); name == cobra.ShellCompRequestCmd || name == cobra.ShellCompNoDescRequestCmd {
		return nil // the word that is completed may be empty
	}
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		args = args[:n]
	}
	for i, arg := range args {
		if blank(arg) {
			return invalid(fmt.Sprintf("argument %d is empty", i+1), "check the variable that it comes from")
		}
	}
	var wrong error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if wrong == nil && !slices.Contains(freeTexts, flag.Name) && slices.ContainsFunc(textsOf(flag), blank) {
			wrong = invalid("--"+flag.Name+" is empty", "leave it out, or check the variable that it comes from")
		}
	})
	return wrong
}

// textsOf returns the values of a flag that was set.
func textsOf(flag *pflag.Flag) []string {
	list, is := flag.Value.(pflag.SliceValue)
	if !is {
		return []string{flag.Value.String()}
	}
	if texts := list.GetSlice(); len(texts) > 0 {
		return texts
	}
	return []string{""}
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
