package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"
	_ "time/tzdata" // zones are known on machines without zone files too

	"carillon/internal/common"
)

// machineZone tells the time zone of this machine, and where that is written. As
// far as a machine says it by name: TZ, then /etc/timezone, then the link
// /etc/localtime; a machine without any of them keeps UTC. etc is the folder.
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
	return "", "", &common.Error{Code: common.CodeInvalid, Message: "this machine does not tell the name of its time zone",
		Hint: "name it with --timezone, as in --timezone Europe/Berlin"}
}

// zoneOfPath takes the zone's name out of the path of its file.
func zoneOfPath(path string) string {
	if _, name, found := strings.Cut(path, "/zoneinfo/"); found {
		return name
	}
	return path
}

func known(zone string) bool {
	if zone == "" || zone == "Local" {
		return false
	}
	_, err := time.LoadLocation(zone)
	return err == nil
}
