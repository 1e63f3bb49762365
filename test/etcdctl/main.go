// Command etcdctl is etcd's own, of the version that Carillon is tested with, for tests
// of scripts that use it. It is a module of its own: nothing else needs what it needs.
package main

import "go.etcd.io/etcd/etcdctl/v3/ctlv3"

func main() { ctlv3.MustStart() }
