package view

// JobPath names a job. (Exported, because huma ignores unexported embedded types.)
type JobPath struct {
	Name string `path:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the job."`
}

// RunPath names a run.
type RunPath struct {
	ID string `path:"id" pattern:"^[a-z0-9]{1,32}\\.[a-z0-9]{1,40}\\.[0-9]{1,9}$" doc:"Id of the run."`
}
