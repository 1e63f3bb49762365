package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// maxFile limits the size of a file of jobs, in bytes.
const maxFile = 16 << 20

// document is one job of a file, as JSON.
type document struct {
	from string // file and position in it
	data json.RawMessage
}

// documents reads the jobs of files ("-" is standard input), and of all files of folders. A file is JSON or
// YAML; it contains one job, several documents, a list, or an object with items.
func (c *cli) documents(paths ...string) ([]document, error) {
	var docs []document
	for _, path := range paths {
		files := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if files, err = jobFiles(path); err != nil {
				return nil, err
			}
		}
		before := len(docs)
		for _, f := range files {
			found, err := c.documentsOf(f, "job")
			if err != nil {
				return nil, err
			}
			docs = append(docs, found...)
		}
		if len(docs) == before {
			return nil, common.Errorf(common.CodeInvalid, "%s contains no job", path)
		}
	}
	return docs, nil
}

// jobFiles lists the job files of a folder, by name.
func jobFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, cannot("cannot read the folder", err)
	}
	var files []string
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".yaml", ".yml", ".json":
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// bareCron matches a cron expression that YAML cannot read: its first character has another meaning there.
var bareCron = regexp.MustCompile(`(?m)(^|[\s{,-])["']?cronExpr["']?:[ \t]+[*@%]`)

// documentsOf reads the objects of a kind in a file.
func (c *cli) documentsOf(file, kind string) ([]document, error) {
	data, err := c.readText(file, maxFile)
	if err != nil {
		return nil, err
	}
	values, err := split(data)
	if err != nil {
		fault := &common.Error{Code: common.CodeInvalid, Message: "cannot read " + file, Err: err}
		if bareCron.Match(data) {
			fault.Hint = `quote cron expressions in YAML: cronExpr: "*/5 * * * *"`
		}
		return nil, fault
	}
	var docs []document
	for _, value := range values {
		for _, item := range unpack(value) {
			docs = append(docs, document{from: fmt.Sprintf("%s, %s %d", file, kind, len(docs)+1), data: item})
		}
	}
	return docs, nil
}

// readText reads a text file without its byte-order mark.
func (c *cli) readText(file string, limit int64) ([]byte, error) {
	data, err := c.readFile(file, limit)
	return common.WithoutMark(data), err
}

func (c *cli) readFile(file string, limit int64) ([]byte, error) {
	from := c.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, cannot("cannot read the file", err)
		}
		defer f.Close()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, limit+1))
	switch {
	case err != nil:
		return nil, cannot("cannot read the file", err)
	case int64(len(data)) > limit:
		return nil, common.Errorf(common.CodeTooLarge, "%s is larger than %d KiB", file, limit>>10)
	}
	return data, nil
}

// split returns the documents of a stream. JSON is kept unchanged, so that the server can report duplicate keys
// and the like.
func split(data []byte) ([]json.RawMessage, error) {
	var values []json.RawMessage
	if start := bytes.TrimSpace(data); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
		dec := json.NewDecoder(bytes.NewReader(data))
		for {
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				return values, unlessEOF(err)
			}
			values = append(values, value)
		}
	}
	if err := expandable(data); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(data), yaml.UseOrderedMap())
	for {
		var value any
		if err := dec.Decode(&value); err != nil {
			return values, unlessEOF(err)
		}
		if value == nil {
			continue
		}
		encoded, err := ordered(value)
		if err != nil {
			return nil, err
		}
		values = append(values, encoded)
	}
}

// ordered returns a YAML value as JSON, with the keys of objects in the order of the text. Of a key that a merge (<<)
// brings as well, the last value counts.
func ordered(value any) (json.RawMessage, error) {
	out, end := []byte{'['}, byte(']')
	next := func(before []byte, v any) error {
		encoded, err := ordered(v)
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, before...), encoded...)
		return err
	}
	switch v := value.(type) {
	case yaml.MapSlice:
		out, end = []byte{'{'}, '}'
		last := v.ToMap()
		for _, item := range v {
			held, wanted := last[item.Key]
			if !wanted {
				continue
			}
			delete(last, item.Key)
			key, err := json.Marshal(item.Key) // a string
			if err == nil {
				err = next(append(key, ':'), held)
			}
			if err != nil {
				return nil, err
			}
		}
	case []any:
		for _, item := range v {
			if err := next(nil, item); err != nil {
				return nil, err
			}
		}
	default:
		return json.Marshal(value)
	}
	return append(out, end), nil
}

func unlessEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// unpack returns the items of a list, or of an object that contains only items.
func unpack(value json.RawMessage) []json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) == nil {
		return items
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil && object["items"] != nil && object["name"] == nil {
		return unpack(object["items"])
	}
	return []json.RawMessage{value}
}

// validation is the server's check of a job.
type validation struct {
	Job    common.Job     `json:"job"` // as it would be stored
	Faults []common.Fault `json:"faults"`

	Warnings []common.Fault `json:"warnings"`
}

// validate has the server check a job. A text that is not a job at all is returned as a list of faults as well.
func validate(ctx context.Context, api *apiclient.API, data []byte) (validation, error) {
	v, err := apiclient.Decode[validation](api.ValidateJobWithBody(ctx, nil, jsonType, bytes.NewReader(data)))
	if err != nil {
		e, ok := asError(err)
		if !ok || e.Code != common.CodeInvalid || len(e.Faults) == 0 {
			return v, err
		}
		v.Faults = e.Faults
	}
	for _, found := range [][]common.Fault{v.Faults, v.Warnings} {
		for i, f := range found {
			found[i].Location = strings.TrimPrefix(f.Location, "body.")
		}
	}
	return v, nil
}
