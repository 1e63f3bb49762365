package runas

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/goccy/go-yaml"

	"carillon/internal/common"
)

// OtherGroups is the key of the entry for groups without an entry of their own, and for jobs without a group.
const OtherGroups = "*"

// Rules are the contents of the file.
type Rules struct {
	// Default is the account of jobs that name none, and any job may name it. Empty means the worker's own user,
	// unless that is root, which is never a default.
	Default string `yaml:"default"`
	// Groups are the entries by group.
	Groups map[string]Entry `yaml:"groups"`
}

// Entry defines what jobs of a group may do.
type Entry struct {
	// Users are the permitted accounts, in addition to the default.
	Users []string `yaml:"users"`
	// Shells are the permitted shells; empty: all.
	Shells []string `yaml:"shells"`
	// Commands are the permitted commands; empty: all.
	Commands []Command `yaml:"commands"`
	// Types are the permitted types; empty: all, or shell only if commands are restricted.
	Types []string `yaml:"types"`
	// Disabled forbids all jobs of the group.
	Disabled bool `yaml:"disabled"`
}

const (
	maxGroups  = 1000
	maxEntries = 1000
)

// Parse parses and validates the contents of a file.
func Parse(data []byte) (*Rules, error) {
	rules := new(Rules)
	if err := yaml.UnmarshalWithOptions(common.WithoutMark(data), rules, yaml.Strict()); err != nil {
		if e, ok := errors.AsType[yaml.Error](err); ok && e.GetToken() != nil {
			return nil, fmt.Errorf("line %d: %s", e.GetToken().Position.Line, e.GetMessage())
		}
		return nil, err
	}
	if rules.Default != "" && !common.ValidUser(rules.Default) {
		return nil, fmt.Errorf("default: %q is not a user name", common.Shorten(rules.Default))
	}
	if len(rules.Groups) > maxGroups {
		return nil, fmt.Errorf("groups: must be at most %d", maxGroups)
	}
	for _, group := range slices.Sorted(maps.Keys(rules.Groups)) {
		if group != OtherGroups && !common.ValidGroup(group) {
			return nil, fmt.Errorf("groups: %q is not a group; use %q for all other groups",
				common.Shorten(group), OtherGroups)
		}
		if err := rules.Groups[group].check(); err != nil {
			return nil, fmt.Errorf("groups.%s: %w", group, err)
		}
	}
	return rules, nil
}

func (e Entry) check() error {
	if max(len(e.Users), len(e.Shells), len(e.Commands), len(e.Types)) > maxEntries {
		return fmt.Errorf("lists must have at most %d entries", maxEntries)
	}
	for _, name := range e.Users {
		if !common.ValidUser(name) {
			return fmt.Errorf("users: %q is not a user name", common.Shorten(name))
		}
	}
	for _, shell := range e.Shells {
		if !path.IsAbs(shell) || path.Clean(shell) != shell {
			return fmt.Errorf("shells: %q is not an absolute path", common.Shorten(shell))
		}
	}
	for _, name := range e.Types {
		if !common.ValidType(name) {
			return fmt.Errorf("types: %q is not the name of a type", common.Shorten(name))
		}
	}
	for i := range e.Commands {
		if err := e.Commands[i].check(); err != nil {
			return fmt.Errorf("commands: %w", err)
		}
	}
	return nil
}

// of returns the entry that applies to jobs of a group.
func (r *Rules) of(group string) Entry {
	if entry, found := r.Groups[group]; found && group != OtherGroups {
		return entry
	}
	return r.Groups[OtherGroups]
}

// switches reports whether the rules let any job run as another user than the worker's own.
func (r *Rules) switches(own string) bool {
	if r.Default != "" && r.Default != own {
		return true
	}
	for _, entry := range r.Groups {
		if slices.ContainsFunc(entry.Users, func(name string) bool { return name != own }) {
			return true
		}
	}
	return false
}
