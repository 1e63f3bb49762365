package members

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// List returns all live workers, by id.
func List(ctx context.Context, client *clientv3.Client) ([]common.Registration, error) {
	resp, err := etcdkit.Range(ctx, client, common.WorkersPrefix, clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	workers := make([]common.Registration, 0, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		if reg, readable := registrationOf(kv); readable {
			workers = append(workers, reg)
		}
	}
	return workers, nil
}
