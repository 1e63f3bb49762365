import { Link } from '@tanstack/react-router';
import { Fragment, useMemo } from 'react';
import { useJobs } from '../api/jobs.ts';
import { useWorkers } from '../api/workers.ts';
import { visible } from '../lib/visible.ts';
import { JobLink } from './JobName.tsx';
import type { ConditionPart, NamedKind } from './conditions.ts';

/** The words of a condition; jobs, runs, channels and workers in them are links. */
export function ConditionText({ parts }: { parts: readonly ConditionPart[] }) {
  return parts.map(({ text, kind }, i) => <Fragment key={i}>{kind === undefined ? visible(text) : <NamedLink kind={kind} name={text} />}</Fragment>);
}

/** A link to what a condition names. */
export function NamedLink({ kind, name }: { kind: NamedKind; name: string }) {
  if (kind === 'worker') return <WorkerLink name={name} />;
  if (kind === 'job') return <TitledJob name={name} />;
  if (kind === 'run') return <Link to="/runs/$id" params={{ id: name }}>{visible(name)}</Link>;
  return <Link to="/notifications" search={{ tab: 'deliveries', channel: name }}>{visible(name)}</Link>;
}

function TitledJob({ name }: { name: string }) {
  return <JobLink job={name} title={useJobs(useMemo(() => [name], [name])).get(name)?.title} />;
}

function WorkerLink({ name }: { name: string }) {
  const worker = useWorkers().data?.items.find((one) => one.name === name || one.id === name);
  return worker ? <Link to="/workers/$id" params={{ id: worker.id }}>{visible(name)}</Link> : <Link to="/workers">{visible(name)}</Link>;
}
