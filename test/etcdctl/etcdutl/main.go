// Command etcdutl is etcd's own, of the version that Carillon is tested with, for trials
// that restore etcd from a snapshot. It knows the command snapshot alone.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/etcdutl/v3/etcdutl"
)

func main() {
	root := &cobra.Command{Use: "etcdutl", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(etcdutl.NewSnapshotCommand())
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "etcdutl:", err)
		os.Exit(1)
	}
}
