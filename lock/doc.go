// Package lock provides distributed locks on etcd. A lock belongs to one client at a time, also when clients crash,
// freeze, or lose their connection:
//
//   - A client that is cut off for less than its grace period keeps the lock.
//   - A client that is cut off for longer loses it, and the context of its work ends before another client can have the
//     lock.
//   - The client that takes over learns from whom, and how far that one had come (Held.TookOver).
//
// New describes a lock, Acquire waits for it, and Release releases it:
//
//	l := lock.New(client, "imports.eu", lock.Options{Grace: 30 * time.Second})
//	held, err := l.Acquire(ctx)
//	if err != nil {
//		return err
//	}
//	defer held.Release(context.WithoutCancel(ctx))
//	err = work(held.Context(), held.Fence())
//
// Work must end within Options.StopGrace after its context has ended. Work that does not, or whose machine was frozen,
// can overlap the work of the next owner; a resource that compares fencing tokens (Held.Fence) rejects its writes.
//
// A Lock may be used by several goroutines, which then wait for each other. Acquire starts goroutines that Release, or
// its own failure, waits for. The package needs no Carillon process, only etcd, with read and write permission for the
// keys below /cron/locks/<name>/.
package lock
