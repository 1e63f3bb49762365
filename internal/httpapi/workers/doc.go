// Package workers serves the workers and their settings.
package workers
