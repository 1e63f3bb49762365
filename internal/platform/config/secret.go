package config

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"carillon/internal/common"
)

const hidden = "***"

// Secret is a text that must not be displayed: however it is printed, logged or encoded, the result is stars.
type Secret struct {
	plain string
	file  string // file that it was read from; empty for other sources
}

// NewSecret wraps a plain text.
func NewSecret(plain string) Secret { return Secret{plain: plain} }

// Reveal returns the plain text, for the one place that needs it.
func (s Secret) Reveal() string { return s.plain }

// Reload reads the secret's file again. A secret from another source is returned unchanged.
func (s Secret) Reload() (string, error) {
	if s.file == "" {
		return s.plain, nil
	}
	plain, err := readSmall(s.file, maxSecret)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(plain), "\r\n"), nil
}

// Empty reports whether there is no secret.
func (s Secret) Empty() bool { return s.plain == "" }

func (s Secret) String() string {
	if s.Empty() {
		return ""
	}
	return hidden
}

// GoString hides the text from %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the text from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the text from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// maxSecret limits the size of a secret's file; URIs and passwords are far smaller.
const maxSecret = 64 << 10

// fill reads the secret from the file at path, or else from the systemd credential with the key's name.
func (s *Secret) fill(key, path string, env environment) *common.Fault {
	from := path
	if path == "" {
		dir := env["CREDENTIALS_DIRECTORY"]
		if dir == "" || !s.Empty() {
			return nil
		}
		from = filepath.Join(dir, key)
		if _, err := os.Stat(from); err != nil {
			return nil // no such credential
		}
	}
	if !s.Empty() {
		return &common.Fault{Location: key, Code: "exclusive", Message: "excludes " + key + "File: set one of them"}
	}
	read := Secret{file: from}
	plain, err := read.Reload()
	if err != nil {
		return &common.Fault{Location: key + "File", Code: "file", Message: err.Error()}
	}
	read.plain = plain
	if *s = read; s.Empty() {
		return &common.Fault{Location: key + "File", Code: "empty", Message: from + " is empty"}
	}
	return nil
}

// readSmall reads a text file, up to limit bytes, without its byte-order mark.
func readSmall(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %d KiB", path, limit>>10)
	}
	return common.WithoutMark(data), nil
}
