package runas

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"

	"carillon/internal/common"
)

// Command is one that jobs may run, and what they may give it. What is not named they may not.
type Command struct {
	// Command is a text for the shell, word for word; as a full path also a program without arguments.
	Command string `yaml:"command"`
	// Args are a program by its full path and its arguments.
	Args []string `yaml:"args"`
	// AnyArgs says that more arguments may follow.
	AnyArgs bool `yaml:"anyArgs"`
	// Env are the variables that a job may set, by its env or its parameters.
	Env []string `yaml:"env"`
	// WorkDirs are the folders that it may run in, beside one of its own.
	WorkDirs []string `yaml:"workDirs"`
	// Stdin says that it may be given input.
	Stdin bool `yaml:"stdin"`
}

// UnmarshalYAML reads a text as a command that is given nothing.
func (c *Command) UnmarshalYAML(unmarshal func(any) error) error {
	*c = Command{}
	if unmarshal(&c.Command) == nil {
		return nil
	}
	*c = Command{}
	type plain Command
	return unmarshal((*plain)(c))
}

var variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func full(file string) bool { return path.IsAbs(file) && path.Clean(file) == file }

func (c *Command) check() error {
	if (c.Command == "") == (len(c.Args) == 0) {
		return errors.New("one is empty, or has command and args; give one of them")
	}
	if len(c.Args) > 0 && !full(c.Args[0]) {
		return fmt.Errorf("%q is not the full path of a program", common.Excerpt(c.Args[0]))
	}
	if c.AnyArgs && len(c.Args) == 0 {
		return errors.New("anyArgs goes with args")
	}
	if max(len(c.Args), len(c.Env), len(c.WorkDirs)) > maxEntries {
		return fmt.Errorf("lists must have at most %d entries", maxEntries)
	}
	for _, name := range c.Env {
		if !variablePattern.MatchString(name) {
			return fmt.Errorf("env: %q is not the name of a variable", common.Excerpt(name))
		}
		if common.DecidesWhatRuns(name) {
			return fmt.Errorf("env: whoever sets %s decides what runs", name)
		}
	}
	for _, dir := range c.WorkDirs {
		if !full(dir) {
			return fmt.Errorf("workDirs: %q is not a full path", common.Excerpt(dir))
		}
	}
	return nil
}

// runs tells whether it is what a job runs: a program, by the path at which it was found, or
// "" for a text for the shell.
func (c *Command) runs(job *common.Job, program string) bool {
	if program == "" {
		return c.Command != "" && c.Command == job.Command
	}
	given := job.Args[1:]
	if c.Command != "" {
		return c.Command == program && full(program) && len(given) == 0
	}
	rest := c.Args[1:]
	if len(given) < len(rest) || len(given) > len(rest) && !c.AnyArgs {
		return false
	}
	return c.Args[0] == program && slices.Equal(rest, given[:len(rest)])
}

// beyond names what a job gives the command and may not; "" where there is nothing.
func (c *Command) beyond(job *common.Job) (what, variable string) {
	for name := range job.Env {
		if !slices.Contains(c.Env, name) {
			return "the variable " + common.Excerpt(name), name
		}
	}
	for name := range job.Params {
		if !slices.Contains(c.Env, name) {
			return "the parameter " + common.Excerpt(name), name
		}
	}
	if job.WorkDir != "" && !slices.Contains(c.WorkDirs, job.WorkDir) {
		return "the folder " + common.Excerpt(job.WorkDir), ""
	}
	if job.Stdin != "" && !c.Stdin {
		return "an input", ""
	}
	return "", ""
}
