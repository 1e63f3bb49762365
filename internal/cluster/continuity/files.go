package continuity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
)

// readFile reads a value from a file that replaceFile wrote. An unreadable file is logged as an event, and
// counts as missing.
func readFile[T any](path string, log *slog.Logger, event string) (value T) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &value)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn(event, "path", path, "error", err)
	}
	return value
}

// replaceFile replaces a file atomically with a value as JSON.
func replaceFile(path string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
