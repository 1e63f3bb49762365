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

// Secret is a text that must not be seen: however it is printed, logged or
// encoded, stars come out.
type Secret struct {
	plain string
	file  string // that it was read from; empty where it came from elsewhere
}

// NewSecret wraps a plain text.
func NewSecret(plain string) Secret { return Secret{plain: plain} }

// Reveal gives the plain text, for the one place that needs it.
func (s Secret) Reveal() string { return s.plain }

// Reload reads the secret's file again. The text is the one there was where it came from elsewhere.
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

// Empty tells whether there is no secret.
func (s Secret) Empty() bool { return s.plain == "" }

func (s Secret) String() string {
	if s.Empty() {
		return ""
	}
	return hidden
}

// GoString keeps %#v from showing the text.
func (s Secret) GoString() string { return s.String() }

// LogValue keeps slog from showing the text.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps encoders from showing the text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// maxSecret bounds a secret's file; a URI or a password is far smaller.
const maxSecret = 64 << 10

// fill gives the secret its text from the file that path names, or else from
// the systemd credential with the key's name.
func (s *Secret) fill(key, path string, env environment) *common.Fault {
	from := path
	if path == "" {
		dir := env["CREDENTIALS_DIRECTORY"]
		if dir == "" || !s.Empty() {
			return nil
		}
		from = filepath.Join(dir, key)
		if _, err := os.Stat(from); err != nil {
			return nil // this credential was not given
		}
	}
	if !s.Empty() {
		return &common.Fault{Location: key, Code: "exclusive", Message: "cannot stand beside " + key + "File: give one of them"}
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

// readSmall reads a file that must not be larger than limit.
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
	return data, nil
}
