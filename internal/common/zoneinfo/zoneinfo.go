// Package zoneinfo holds the time zones of the IANA database, in one version for all machines. time.LoadLocation reads
// the machine's files first, so two workers could compute different fires.
package zoneinfo

import (
	"archive/zip"
	_ "embed" // the archive
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

var (
	//go:embed zoneinfo.zip
	archive string
	//go:embed version.txt
	version string
)

// open reads the directory of the archive, once.
var open = sync.OnceValues(func() (*zip.Reader, error) {
	return zip.NewReader(strings.NewReader(archive), int64(len(archive)))
})

// Version returns the version of the database, such as 2025c.
func Version() string { return strings.TrimSpace(version) }

// Load returns the zone with an IANA name. UTC is time.UTC; "Local" and the empty name are not zones.
func Load(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	zones, err := open()
	if err != nil {
		return nil, fmt.Errorf("zone data: %w", err)
	}
	f, err := zones.Open(name)
	if err != nil {
		return nil, fmt.Errorf("time zone %q is unknown in version %s of the zone data", name, Version())
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("time zone %q: %w", name, err)
	}
	loc, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("time zone %q: %w", name, err)
	}
	return loc, nil
}
