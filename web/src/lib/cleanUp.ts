// The clean-up of a flow run.

const open: ReadonlySet<string> = new Set(['pending', 'waiting', 'running']);

/** Reports whether clean-up steps of a flow run have not ended. A step that is not listed has not begun. */
export function hasOpenCleanUp(steps: readonly { name: string; finally?: boolean | undefined }[], nodes: readonly { node: string; status: string }[]): boolean {
  const statuses = new Map(nodes.map(({ node, status }) => [node, status]));
  return steps.some((step) => step.finally === true && open.has(statuses.get(step.name) ?? 'pending'));
}
