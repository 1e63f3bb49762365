package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const maxToken = 4 << 10

// environment is the environment of the process, by name.
type environment map[string]string

// with returns a copy with further variables.
func (e environment) with(more map[string]string) environment {
	all := maps.Clone(e)
	maps.Copy(all, more)
	return all
}

// list returns the variables as NAME=VALUE.
func (e environment) list() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(e)) {
		list = append(list, name+"="+e[name])
	}
	return list
}

func environmentOf(list []string) environment {
	env := environment{}
	for _, item := range list {
		if name, value, found := strings.Cut(item, "="); found {
			env[name] = value
		}
	}
	return env
}

// stateDir returns the default data folder of a standalone.
func (e environment) stateDir() string {
	if dir := e["CARILLON_DATA_DIR"]; dir != "" {
		return dir
	}
	if dir := e["XDG_STATE_HOME"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, "carillon")
	}
	if e["HOME"] == "" {
		return ""
	}
	return filepath.Join(e["HOME"], ".local", "state", "carillon")
}

// token returns the token given on the command line, else in the environment. It may be empty.
func token(flag, flagFile string, env environment) (string, error) {
	if flag == "" && flagFile == "" {
		flag, flagFile = env["CARILLON_TOKEN"], env["CARILLON_TOKEN_FILE"]
	}
	if flag != "" || flagFile == "" {
		return flag, nil
	}
	return readToken(flagFile)
}

// standaloneToken returns the token that a standalone on this machine wrote. It may be empty.
func standaloneToken(env environment) (string, error) {
	for _, dir := range []string{"data", env.stateDir()} {
		if dir == "" {
			continue
		}
		text, err := readToken(filepath.Join(dir, "admin.token"))
		if err == nil {
			return text, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return "", err
		}
	}
	return "", nil
}

func readToken(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", cannot("cannot read the token file", err)
	}
	defer f.Close()
	data := make([]byte, maxToken)
	n, err := f.Read(data)
	text := strings.TrimSpace(string(data[:n]))
	if text == "" || strings.ContainsAny(text, " \t\r\n") {
		return "", cannot("file "+file+" does not contain a token", err)
	}
	return text, nil
}
