// Package config reads the settings of the three daemons.
//
// It promises that a setting is declared once, and that its flag, its
// environment variable, its key in the file, its default and its line in
// docs/configuration.md all follow from that declaration. A flag wins over the
// environment (CARILLON_*), that over the file (--config), that over the
// default. What nobody declared is refused with the name that was probably
// meant, and all faults are listed at once. Passwords have no flag, which every
// user of the machine could read; they come from a file, from a systemd
// credential or from the environment, and print as stars.
//
// The package starts no goroutine. It reads the files that it is told of, once.
package config
