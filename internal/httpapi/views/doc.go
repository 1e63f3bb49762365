// Package views serves named filters of the list of jobs: a user's own, and those shared by all.
package views
