package daemon

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit"
	"carillon/internal/platform/lifecycle"
)

const (
	versionLimit = 5 * time.Second
	versionAgain = 30 * time.Second
)

// EtcdVersions requests the version of each member of etcd once, as soon as the member responds. It logs a
// warning, once per version, for versions that do not isolate the keys of users.
func EtcdVersions(client *clientv3.Client, log *slog.Logger) lifecycle.Part {
	return etcdVersions(client.Endpoints(), func(ctx context.Context, endpoint string) (string, error) {
		status, err := client.Status(ctx, endpoint)
		if err != nil {
			return "", err
		}
		return status.Version, nil
	}, log)
}

func etcdVersions(endpoints []string, version func(ctx context.Context, endpoint string) (string, error),
	log *slog.Logger) lifecycle.Part {
	return lifecycle.Part{Name: "etcd version", Serve: untilEnd(func(ctx context.Context) error {
		unknown := endpoints
		for {
			var silent []string
			outdated := map[string][]string{} // endpoints by version
			for _, endpoint := range unknown {
				found, err := versionWithin(ctx, endpoint, version)
				if err != nil {
					silent = append(silent, endpoint)
				} else if etcdkit.VersionFault(found) != "" {
					outdated[found] = append(outdated[found], endpoint)
				}
			}
			for _, found := range slices.Sorted(maps.Keys(outdated)) {
				log.Warn("etcd_outdated", "version", found, "endpoints", outdated[found], "fault",
					etcdkit.VersionFault(found))
			}
			if unknown = silent; len(unknown) == 0 {
				return nil
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(versionAgain):
			}
		}
	})}
}

func versionWithin(ctx context.Context, endpoint string, version func(context.Context, string) (string, error)) (string,
	error) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	return version(ctx, endpoint)
}
