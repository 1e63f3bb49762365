package etcd

import (
	"context"
	"maps"
	"slices"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Bounds of the networks that are stored for a user.
const (
	maxNetworks    = 16
	networkLife    = 90 * 24 * time.Hour
	networkRefresh = 24 * time.Hour // how often the time of a login is updated
)

// networks is the value of a user's networks: the time of the last login with the password from
// each network.
type networks map[string]time.Time

// KnownNetwork reports whether a user has signed in with a password from a network within the last
// 90 days. It returns false if this cannot be read.
func (s *Store) KnownNetwork(ctx context.Context, user, network string) bool {
	if network == "" {
		return false
	}
	u, err := s.owner(ctx, s.get, user, func(*access.UserRecord) bool { return true })
	if err != nil || u == nil {
		return false
	}
	kv, err := s.get(ctx, common.NetworksKey(u.ID))
	if err != nil || kv == nil {
		return false
	}
	known, err := common.Decode[networks](kv.Value)
	return err == nil && s.now().Sub(known[network]) < networkLife
}

// remember stores the network of a login. Errors are ignored: the login is valid without it.
func (s *Store) remember(ctx context.Context, user *access.UserRecord, network string) {
	if network == "" {
		return
	}
	key, now := common.NetworksKey(user.ID), s.now().UTC()
	kv, err := s.fresh(ctx, key)
	if err != nil {
		return
	}
	known := networks{}
	if kv != nil {
		if stored, err := common.Decode[networks](kv.Value); err == nil && stored != nil {
			known = stored
		}
	}
	if now.Sub(known[network]) < networkRefresh {
		return
	}
	known[network] = now
	byAge := slices.SortedFunc(maps.Keys(known), func(a, b string) int { return known[b].Compare(known[a]) })
	for _, old := range byAge[min(len(byAge), maxNetworks):] {
		delete(known, old)
	}
	t := s.etcd.Txn()
	etcdkit.Swap(t, key, kv, &known)
	// The compare on the user leaves nothing behind if the user is deleted meanwhile.
	t.If(etcdkit.Unchanged(common.UserKey(user.Name), user.Version))
	_, _, _ = s.etcd.Commit(ctx, "networks of "+user.Name, t)
	s.forget(key)
}
