package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/goccy/go-yaml"

	"carillon/internal/common"
)

const maxContexts = 1 << 20

// contexts are the saved servers, as the file holds them.
type contexts struct {
	Current string         `yaml:"current,omitempty"`
	List    []savedContext `yaml:"contexts,omitempty"`
}

// savedContext is a server with the user's login there.
type savedContext struct {
	Name         string     `yaml:"name"`
	Server       string     `yaml:"server"`
	InsecureHTTP bool       `yaml:"insecureHTTP,omitempty"`
	CA           string     `yaml:"ca,omitempty"`
	Cert         string     `yaml:"cert,omitempty"`
	Key          string     `yaml:"key,omitempty"`
	User         string     `yaml:"user,omitempty"` // for display; the server identifies the user by the token
	Token        string     `yaml:"token,omitempty"`
	ExpiresAt    *time.Time `yaml:"expiresAt,omitempty"`
	// Ours reports whether login created the token, so that logout may revoke it.
	Ours bool `yaml:"ours,omitempty"`
}

// contextsFile returns the path of the file of contexts; empty without a home directory.
func (e environment) contextsFile() string {
	switch {
	case e["CARILLON_CONTEXTS"] != "":
		return e["CARILLON_CONTEXTS"]
	case filepath.IsAbs(e["XDG_CONFIG_HOME"]):
		return filepath.Join(e["XDG_CONFIG_HOME"], "carillon", "config.yaml")
	case e["HOME"] != "":
		return filepath.Join(e["HOME"], ".config", "carillon", "config.yaml")
	}
	return ""
}

// loadContexts reads the file; a missing file holds no contexts. It refuses a file that other users can read or
// write, since it contains tokens.
func loadContexts(env environment) (contexts, error) {
	var all contexts
	file := env.contextsFile()
	if file == "" {
		return all, nil
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err == nil && info.Mode().Perm()&0o077 != 0:
		return all, invalid("other users can read or write "+file+", which contains tokens", "chmod 600 "+file)
	case err == nil && info.Size() > maxContexts:
		err = fmt.Errorf("larger than %d KiB", maxContexts>>10)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(file)
		data = common.WithoutMark(data)
	}
	if err == nil && len(bytes.TrimSpace(data)) > 0 {
		err = yaml.UnmarshalWithOptions(data, &all, yaml.Strict())
	}
	if err != nil {
		return all, cannot("cannot read contexts from "+file, err)
	}
	return all, nil
}

// save replaces the file; only its owner can read it.
func (all *contexts) save(env environment) error {
	file := env.contextsFile()
	if file == "" {
		return invalid("no directory for the file of contexts", "set HOME, or name a file with CARILLON_CONTEXTS")
	}
	slices.SortFunc(all.List, func(a, b savedContext) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	data, err := yaml.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return cannot("cannot create the folder", err)
	}
	return writeFile(file, data)
}

// find returns the context of this name.
func (all *contexts) find(name string) (*savedContext, error) {
	for i := range all.List {
		if all.List[i].Name == name {
			return &all.List[i], nil
		}
	}
	return nil, hinted(common.CodeNotFound, fmt.Sprintf("context %q not found", common.Shorten(name)),
		"list contexts with cronctl context list, or create one with cronctl login SERVER")
}

// put adds a context, or replaces that of its name.
func (all *contexts) put(one savedContext) {
	all.List = slices.DeleteFunc(all.List, func(c savedContext) bool { return c.Name == one.Name })
	all.List = append(all.List, one)
}

// remove deletes a context.
func (all *contexts) remove(name string) {
	all.List = slices.DeleteFunc(all.List, func(c savedContext) bool { return c.Name == name })
	if all.Current == name {
		all.Current = ""
	}
}
