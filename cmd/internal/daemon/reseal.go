package daemon

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	notifyetcd "carillon/internal/notify/etcd"
	"carillon/internal/platform/config"
	"carillon/internal/platform/wallclock"
	secretsetcd "carillon/internal/secrets/etcd"
)

// Reseal encrypts all secrets with the first key, and returns how many were encrypted with another.
func Reseal(ctx context.Context, etcd *clientv3.Client, key config.Secret) (secrets, channels int, err error) {
	box, err := SecretBox(key)
	if err != nil {
		return 0, 0, fmt.Errorf("secretsKey: %w", err)
	}
	actor := common.Actor{Name: "reseal", Remote: "console"}
	ignored := func() {} // no visible change
	if secrets, err = secretsetcd.New(etcd, box, wallclock.Now, ignored).Reseal(ctx, actor); err != nil {
		return secrets, 0, err
	}
	channels, err = notifyetcd.New(etcd, box, wallclock.Now, ignored).Reseal(ctx, actor)
	return secrets, channels, err
}
