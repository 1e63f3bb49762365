package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"carillon/internal/common"
	"carillon/internal/executor/typeschema"
)

// maxInput bounds what is read from standard input: with has at most 32 KiB before its secrets are filled in.
const maxInput = 4 << 20

// input is what this program uses of its standard input.
type input struct {
	Protocol int `json:"protocol"`
	Run      struct {
		ID   string `json:"id"`
		Fire string `json:"fire"`
		Job  string `json:"job"`
	} `json:"run"`
	With settings `json:"with"`
}

// settings are those of the document.
type settings struct {
	Image      string            `json:"image"`
	Command    []string          `json:"command"`
	Entrypoint string            `json:"entrypoint"`
	Env        map[string]string `json:"env"`
	Stdin      *string           `json:"stdin"`
	Mounts     []string          `json:"mounts"`
	Network    string            `json:"network"`
	Pull       string            `json:"pull"`
	User       string            `json:"user"`
	WorkDir    string            `json:"workDir"`
	Init       bool              `json:"init"`
}

// read reads and checks the input. An error quotes no values.
func read(stdin io.Reader) (*input, error) {
	data, err := io.ReadAll(io.LimitReader(stdin, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	var raw struct {
		Protocol int         `json:"protocol"`
		With     common.With `json:"with"`
	}
	if len(data) > maxInput || json.Unmarshal(data, &raw) != nil {
		return nil, errors.New("standard input is not a JSON object of protocol 1")
	}
	if raw.Protocol != typeschema.Protocol {
		return nil, fmt.Errorf("protocol %d is unknown; %d is known", raw.Protocol, typeschema.Protocol)
	}
	is, err := typeschema.Parse(document)
	if err != nil {
		return nil, err
	}
	if err := is.Check(raw.With); err != nil {
		return nil, err
	}
	in := &input{}
	if err := json.Unmarshal(data, in); err != nil {
		return nil, errors.New("standard input is not as protocol 1 defines it")
	}
	if in.Run.ID == "" || in.Run.Fire == "" {
		return nil, errors.New("run.id and run.fire are required")
	}
	for name, value := range in.With.Env {
		if strings.ContainsAny(value, "\n\r\x00") {
			return nil, fmt.Errorf("with.env.%s: a variable cannot contain a line break: use stdin", name)
		}
	}
	return in, nil
}

// outputs is the folder of the outputs within the container.
const outputs = "/run/carillon/outputs"

// variables returns the file of variables of the container: those of the run, and its own.
func (in *input) variables(environ []string) string {
	var lines []string
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case name == "CARILLON_OUTPUT":
			lines = append(lines, name+"="+outputs)
		case strings.HasPrefix(name, "CARILLON_") && !strings.ContainsAny(value, "\n\r"):
			lines = append(lines, variable)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.With.Env)) {
		lines = append(lines, name+"="+in.With.Env[name])
	}
	return strings.Join(lines, "\n") + "\n"
}

// name returns the name of the container of this attempt.
func (in *input) name() string { return "carillon-" + in.Run.ID }

// arguments returns the options of podman run; variables is the file of variables.
func (in *input) arguments(variables string) []string {
	args := []string{
		"run", "--rm", "--name=" + in.name(),
		"--label=" + labelType, "--label=" + labelFire + "=" + in.Run.Fire, "--label=carillon.job=" + in.Run.Job,
		"--cgroups=disabled", // it remains in the control group of the run
		"--log-driver=none",  // the output is the worker's
		"--security-opt=no-new-privileges",
		"--env-file=" + variables,
	}
	option := func(name, value string) {
		if value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	w := &in.With
	option("pull", w.Pull)
	if w.Network != "default" {
		option("network", w.Network)
	}
	option("entrypoint", w.Entrypoint)
	option("user", w.User)
	option("workdir", w.WorkDir)
	for _, mount := range w.Mounts {
		option("volume", mount)
	}
	if folder := os.Getenv("CARILLON_OUTPUT"); folder != "" {
		option("volume", folder+":"+outputs)
	}
	if w.Init {
		args = append(args, "--init")
	}
	if w.Stdin != nil {
		args = append(args, "--interactive")
	}
	return append(append(args, w.Image), w.Command...)
}
