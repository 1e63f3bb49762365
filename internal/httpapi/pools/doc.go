// Package pools serves pools: limits on runs across jobs.
package pools
