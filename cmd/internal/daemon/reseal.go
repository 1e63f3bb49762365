package daemon

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/alertstore"
	"carillon/internal/common"
	"carillon/internal/config"
	"carillon/internal/secretstore"
)

// Reseal seals all secrets with the first key, and tells how many were sealed with another.
func Reseal(ctx context.Context, etcd *clientv3.Client, key config.Secret) (secrets, channels int, err error) {
	box, err := SecretBox(key)
	if err != nil {
		return 0, 0, fmt.Errorf("secretsKey: %w", err)
	}
	actor := common.Actor{Name: "reseal", Remote: "console"}
	nobody := func() {} // no change of what is shown to anybody
	if secrets, err = secretstore.New(etcd, box, WallClock, nobody).Reseal(ctx, actor); err != nil {
		return secrets, 0, err
	}
	channels, err = alertstore.New(etcd, box, WallClock, nobody).Reseal(ctx, actor)
	return secrets, channels, err
}
