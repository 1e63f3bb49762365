package health

// RecordFault is why a stored value does not decode.
type RecordFault string

// The faults of stored values.
const (
	RecordJSON   RecordFault = "json"   // it is not JSON
	RecordType   RecordFault = "type"   // a field has another JSON type
	RecordValue  RecordFault = "value"  // a field has an invalid value
	RecordKey    RecordFault = "key"    // it belongs to another key
	RecordCursor RecordFault = "cursor" // of a job: its cursor is missing or invalid
)

// Record describes a stored value that does not decode, without the value: it may hold a secret.
type Record struct {
	Key      string      `json:"key" doc:"Its key in etcd." example:"/cron/settings/channels/ops"`
	Kind     string      `json:"kind" enum:"after,approval,channel,flow_node,flow_run,job,lock,maintenance,notification,outcome,pool,run,secret,success,token,trigger,user,view,worker_settings" doc:"What the key holds."`
	Size     int         `json:"size" doc:"Size of the value in bytes."`
	Revision int64       `json:"revision" doc:"Revision of its last change; a deletion names it."`
	Fault    RecordFault `json:"fault" enum:"json,type,value,key,cursor" doc:"json: it is not JSON. type: a field has another JSON type. value: a field has an invalid value. key: it belongs to another key. cursor: the job's cursor is missing or invalid."`
	Text     string      `json:"text" doc:"The fault in words." example:"not JSON, at byte 17"`
	Advice   string      `json:"advice,omitempty" doc:"How to proceed with a value that DELETE /system/records does not delete."`
}

// MaxRecords bounds the records of an examination.
const MaxRecords = 500
