package common

import "time"

// Life is one start of a worker process. BootID and PIDNamespace tell whether a
// later life can see the processes of this one.
type Life struct {
	Worker       string `json:"worker"` // id, made at the first start
	Name         string `json:"name"`   // what people see
	Life         string `json:"life"`
	BootID       string `json:"bootId,omitempty"`
	PIDNamespace string `json:"pidNs,omitempty"`
}

// Registration is the value of /cron/workers/<worker>.
type Registration struct {
	Life
	Host      string            `json:"host"`
	Version   string            `json:"version"`
	PID       int               `json:"pid"`
	Labels    map[string]string `json:"labels,omitempty"`
	Slots     int               `json:"slots"`
	Running   int               `json:"running"`
	StartedAt time.Time         `json:"startedAt"`
	Clock     time.Time         `json:"clock"` // the worker's wall clock when it wrote this
	Draining  bool              `json:"draining,omitempty"`
	Trouble   string            `json:"trouble,omitempty"` // why it does not claim, if it does not
	Lease     int64             `json:"lease"`
}
