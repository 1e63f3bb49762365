import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { useWorkers } from '../api/workers.ts';
import { visible } from '../lib/visible.ts';
import type { ConditionPart, NamedKind } from './conditions.ts';

/** The words of a condition; jobs, runs, channels and workers in them are links. */
export function ConditionText({ parts }: { parts: readonly ConditionPart[] }) {
  return parts.map(({ text, kind }, i) => <Fragment key={i}>{kind === undefined ? visible(text) : <NamedLink kind={kind} name={text} />}</Fragment>);
}

/** A link to what a condition names. */
export function NamedLink({ kind, name }: { kind: NamedKind; name: string }) {
  if (kind === 'worker') return <WorkerLink name={name} />;
  if (kind === 'job') return <Link to="/jobs/$name" params={{ name }}>{visible(name)}</Link>;
  if (kind === 'run') return <Link to="/runs/$id" params={{ id: name }}>{visible(name)}</Link>;
  return <Link to="/notifications" search={{ tab: 'deliveries', channel: name }}>{visible(name)}</Link>;
}

function WorkerLink({ name }: { name: string }) {
  const worker = useWorkers().data?.items.find((one) => one.name === name || one.id === name);
  return worker ? <Link to="/workers/$id" params={{ id: worker.id }}>{visible(name)}</Link> : <Link to="/workers">{visible(name)}</Link>;
}
