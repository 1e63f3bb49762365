// Package config reads the settings of the three daemons.
//
// Each setting is declared once; its flag, environment variable, key in the file, default and line in
// docs/configuration.md follow from the declaration. A flag takes precedence over the environment (CARILLON_*),
// that over the file (--config), that over the default. Unknown settings are refused with a suggestion, and all
// errors are listed at once. Passwords have no flag, which every user of the machine could read; they come from
// a file, a systemd credential or the environment, and print as stars.
//
// The package starts no goroutine. It reads the named files once.
package config
