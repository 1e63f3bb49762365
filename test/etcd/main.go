// Command etcd is the etcd server of the version that Carillon is built with, for
// tests that need one as a process of its own.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
