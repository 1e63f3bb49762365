package etcdkit

import clientv3 "go.etcd.io/etcd/client/v3"

// Absent holds while the key does not exist.
func Absent(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
}

// Exists holds while the key exists.
func Exists(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), ">", 0)
}

// Unchanged holds while the key's last change is the one that was read; zero: it did not exist.
func Unchanged(key string, modRevision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(key), "=", modRevision)
}

// Same holds while the key has the creation revision that was read, even if its value changed.
func Same(key string, createRevision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", createRevision)
}

// NoneUnder holds while no key begins with the prefix. (A range compare holds if it holds for every key in
// the range, and therefore for an empty range.)
func NoneUnder(prefix string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(prefix), "=", 0).WithPrefix()
}

// NoneCreatedBefore holds while every key under the prefix was created at the revision or later.
func NoneCreatedBefore(prefix string, revision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(prefix), ">", revision-1).WithPrefix()
}

// NoneNewer holds while no key under the prefix was put after the revision.
func NoneNewer(prefix string, revision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(prefix), "<", revision+1).WithPrefix()
}

// NoneNewerWithin holds while no key from first on, but before end, was put after the revision.
func NoneNewerWithin(first, end string, revision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(first), "<", revision+1).WithRange(end)
}
