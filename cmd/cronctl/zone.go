package main

import (
	"os"
	"path/filepath"
	"strings"

	"carillon/internal/common/zoneinfo"
)

// machineZone returns the name of this machine's time zone and its source: TZ, then /etc/timezone, then the
// link /etc/localtime; a machine without any of them uses UTC. etc is the folder.
func machineZone(tz, etc string) (zone, from string, err error) {
	if name := zoneOfPath(strings.TrimPrefix(tz, ":")); known(name) {
		return name, "TZ", nil
	}
	file := filepath.Join(etc, "timezone")
	if data, err := os.ReadFile(file); err == nil {
		if name := strings.TrimSpace(string(data)); known(name) {
			return name, file, nil
		}
	}
	link := filepath.Join(etc, "localtime")
	target, err := os.Readlink(link)
	if err == nil {
		if name := zoneOfPath(target); known(name) {
			return name, link, nil
		}
	}
	if _, err := os.Stat(link); os.IsNotExist(err) {
		return "UTC", "no zone is set on this machine", nil
	}
	return "", "", invalid("cannot find the name of this machine's time zone",
		"name it with --timezone, as in --timezone Europe/Berlin")
}

// zoneOfPath returns the zone name in the path of a zone file.
func zoneOfPath(path string) string {
	if _, name, found := strings.Cut(path, "/zoneinfo/"); found {
		return name
	}
	return path
}

func known(zone string) bool {
	_, err := zoneinfo.Load(zone)
	return err == nil
}
