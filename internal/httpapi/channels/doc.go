// Package channels serves the channels of notifications, and deliveries.
package channels
