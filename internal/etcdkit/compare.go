package etcdkit

import clientv3 "go.etcd.io/etcd/client/v3"

// Absent holds while the key does not exist.
func Absent(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
}

// Unchanged holds while the key's last change is the one seen; zero means that it did not exist.
func Unchanged(key string, modRevision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(key), "=", modRevision)
}

// Same holds while the key is the one whose creation was seen, changed or not.
func Same(key string, createRevision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", createRevision)
}

// NoneUnder holds while no key begins with the prefix. (A range compare is true
// when it is true of every key in the range, and of none where there is none.)
func NoneUnder(prefix string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(prefix), "=", 0).WithPrefix()
}

// NoneNewer holds while no key under the prefix was put after the revision.
func NoneNewer(prefix string, revision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(prefix), "<", revision+1).WithPrefix()
}

// NoneNewerWithin holds while no key from first on, but before end, was put after the revision.
func NoneNewerWithin(first, end string, revision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(first), "<", revision+1).WithRange(end)
}
