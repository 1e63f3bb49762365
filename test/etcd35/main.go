// Command etcd35 is the etcd server of the oldest version that Carillon works with, for tests.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
