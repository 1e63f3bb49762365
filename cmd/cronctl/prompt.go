package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"carillon/internal/common"
)

// interactive reports whether standard input is a terminal, so that questions can be asked.
func (c *cli) interactive() bool {
	f, ok := c.stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// ask asks a question and returns one line.
func (c *cli) ask(question string) (string, error) {
	fmt.Fprint(c.stderr, question)
	line, err := bufio.NewReader(io.LimitReader(c.stdin, maxToken)).ReadString('\n')
	if err != nil && line == "" {
		return "", cannot("no input", err)
	}
	return strings.TrimSpace(line), nil
}

// confirmDelete asks whether to delete something, which details describe. Without a terminal it returns an error with
// the hint.
func (c *cli) confirmDelete(what, details, hint string) error {
	if !c.interactive() {
		return invalid("this would delete "+what, hint)
	}
	answer, err := c.ask(oneLine("Delete " + what + details + "? [y/N] "))
	if err != nil {
		return err
	}
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		return common.Errorf(common.CodeInvalid, "cancelled, nothing was changed")
	}
	return nil
}

// askSecret asks a question and returns one line that is not echoed.
func (c *cli) askSecret(question string) (string, error) {
	f, ok := c.stdin.(*os.File)
	if !ok {
		return "", common.Errorf(common.CodeInvalid, "no terminal to ask on")
	}
	fmt.Fprint(c.stderr, question)
	data, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(c.stderr)
	if err != nil {
		return "", cannot("cannot read the input", err)
	}
	return string(data), nil
}

// secretFrom reads a secret from standard input: all of it, without the final newline.
func (c *cli) secretFrom(what string, limit int64) (string, error) {
	data, err := io.ReadAll(io.LimitReader(c.stdin, limit+1))
	if err != nil {
		return "", cannot("cannot read "+what, err)
	}
	if int64(len(data)) > limit {
		return "", common.Errorf(common.CodeTooLarge, "%s is larger than %d bytes", what, limit)
	}
	text := withoutNewline(data)
	if text == "" {
		return "", common.Errorf(common.CodeInvalid, "%s is empty", what)
	}
	return text, nil
}

func withoutNewline(data []byte) string {
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
}
