package runas

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"

	"carillon/internal/common"
)

// Command is a command that jobs may run, and the inputs that they may pass to it. All other inputs are forbidden.
type Command struct {
	// Command is a shell command line, compared literally; if it is an absolute path, also a program without arguments.
	Command string `yaml:"command"`
	// Args are the absolute path of a program and its arguments.
	Args []string `yaml:"args"`
	// AnyArgs permits further arguments.
	AnyArgs bool `yaml:"anyArgs"`
	// Env are the variables that a job may set, by its env or its parameters.
	Env []string `yaml:"env"`
	// WorkDirs are the permitted working directories. The run's own temporary directory is always permitted.
	WorkDirs []string `yaml:"workDirs"`
	// Stdin permits standard input.
	Stdin bool `yaml:"stdin"`
}

// UnmarshalYAML reads a plain string as a command without permitted inputs.
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
		return errors.New("an entry needs either command or args")
	}
	if len(c.Args) > 0 && !full(c.Args[0]) {
		return fmt.Errorf("%q is not the absolute path of a program", common.Shorten(c.Args[0]))
	}
	if c.AnyArgs && len(c.Args) == 0 {
		return errors.New("anyArgs requires args")
	}
	if max(len(c.Args), len(c.Env), len(c.WorkDirs)) > maxEntries {
		return fmt.Errorf("lists must have at most %d entries", maxEntries)
	}
	for _, name := range c.Env {
		if !variablePattern.MatchString(name) {
			return fmt.Errorf("env: %q is not the name of a variable", common.Shorten(name))
		}
		if common.DecidesWhatRuns(name) {
			return fmt.Errorf("env: %s must not be allowed, since it can make the command run another program", name)
		}
	}
	for _, dir := range c.WorkDirs {
		if !full(dir) {
			return fmt.Errorf("workDirs: %q is not an absolute path", common.Shorten(dir))
		}
	}
	return nil
}

// runs reports whether a job runs this command. program is the path at which the job's program was found, or "" for a
// shell command line.
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

// beyond describes an input that a job passes to the command without permission; "" if there is none.
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
		return "the working directory " + common.Excerpt(job.WorkDir), ""
	}
	if job.Stdin != "" && !c.Stdin {
		return "standard input", ""
	}
	return "", ""
}
