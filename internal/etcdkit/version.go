package etcdkit

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// floors are the lowest versions without known vulnerabilities in access control (CVE-2026-73499,
// CVE-2026-33413), by minor version.
var floors = map[[2]int]int{{3, 5}: 33, {3, 6}: 14, {3, 7}: 1}

// VersionFault returns what is wrong with a version of the etcd server; empty if nothing is.
func VersionFault(version string) string {
	var v [3]int
	core, _, _ := strings.Cut(version, "-")
	parts := strings.Split(core, ".")
	for i := range v {
		if i >= len(parts) {
			return fmt.Sprintf("%q is not a version", version)
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return fmt.Sprintf("%q is not a version", version)
		}
		v[i] = n
	}
	minor := [2]int{v[0], v[1]}
	floor, known := floors[minor]
	switch {
	case known && v[2] < floor:
		return fmt.Sprintf("%s lets users of etcd exceed their permissions; use %d.%d.%d or newer", core, v[0],
			v[1], floor)
	case minor[0] < 3 || minor[0] == 3 && minor[1] < 5:
		return core + " is too old; use 3.5.33, 3.6.14, 3.7.1 or newer"
	}
	return ""
}

const (
	versionLimit = 5 * time.Second
	versionAgain = 30 * time.Second
)

// LogOutdated requests the version of each member of etcd once, as soon as the member responds. It logs a
// warning, once per version, for versions that do not isolate the keys of users, and returns when ctx ends.
func LogOutdated(client *clientv3.Client, log *slog.Logger) func(ctx context.Context) error {
	return logOutdated(client.Endpoints(), client.Status, log)
}

func logOutdated(unknown []string, status func(context.Context, string) (*clientv3.StatusResponse, error),
	log *slog.Logger) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		for len(unknown) > 0 {
			var silent []string
			outdated := map[string][]string{} // endpoints by version
			for _, endpoint := range unknown {
				within, cancel := context.WithTimeout(ctx, versionLimit)
				found, err := status(within, endpoint)
				cancel()
				if err != nil {
					silent = append(silent, endpoint)
				} else if VersionFault(found.Version) != "" {
					outdated[found.Version] = append(outdated[found.Version], endpoint)
				}
			}
			for _, found := range slices.Sorted(maps.Keys(outdated)) {
				log.Warn("etcd_outdated", "version", found, "endpoints", outdated[found], "fault", VersionFault(found))
			}
			if unknown = silent; len(unknown) > 0 && !Sleep(ctx, versionAgain) {
				return nil
			}
		}
		<-ctx.Done()
		return nil
	}
}
