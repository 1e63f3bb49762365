/** The query cache's keys. What a mutation changes is invalidated by prefix. */
export const keys = {
  session: ['session'] as const,
  jobs: ['jobs'] as const,
  jobList: (q: string, cursor: string) => ['jobs', 'list', q, cursor] as const,
  job: (name: string) => ['jobs', 'one', name] as const,
  placements: ['placements'] as const,
  placement: (name: string) => ['placements', name] as const,
  runs: ['runs'] as const,
  runList: (filter: Record<string, string | undefined>, cursor: string) => ['runs', 'list', filter, cursor] as const,
  run: (id: string) => ['runs', 'one', id] as const,
  attempts: (fire: string) => ['runs', 'attempts', fire] as const,
  fires: ['fires'] as const,
  fireList: (filter: object, cursor: string) => ['fires', 'list', filter, cursor] as const,
  workers: ['workers'] as const,
  overview: ['overview'] as const,
  validation: (definition: object) => ['validation', definition] as const,
  preview: (request: object, language: string) => ['preview', request, language] as const,
};
