import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDefaults, useDefaultsReview, useSaveDefaults } from '../api/defaults.ts';
import { Problem, type Fault } from '../api/problem.ts';
import type { AffectedJob, Defaults, DefaultsReview as Review, JobDefaults } from '../api/types.ts';
import { reviewParts, valuesOf } from '../lib/defaultsReview.ts';
import { listed } from '../lib/lists.ts';
import { visible } from '../lib/visible.ts';
import { CodeBlock } from './CodeBlock.tsx';
import classes from './DefaultsReview.module.css';
import { DiffView } from './DiffView.tsx';
import { originText } from './FromDefaults.tsx';
import { Icon } from './icons.tsx';
import { PlainText } from './PlainText.tsx';
import { ProblemNotice } from './ProblemNotice.tsx';
import { faultText } from './problemText.ts';
import { showNotice } from './showNotice.ts';
import { TimeText } from './TimeText.tsx';
import { Waiting } from './Waiting.tsx';

interface Props {
  group: string;
  /** The values to be saved; none to delete the defaults. */
  values: Defaults;
  /** The version on which the change is based; undefined if there were no defaults. */
  version: number | undefined;
  /** What leads to the change. */
  act: 'save' | 'delete' | 'restore';
  onSaved: (saved: JobDefaults) => void;
  /** Receives faults of the values themselves. */
  onRefused?: (error: Problem) => void;
  onClose: () => void;
}

/** Shows what a change of defaults does to the jobs before it is saved. */
export function DefaultsReview({ group, values, version, act, onSaved, onRefused, onClose }: Props) {
  const { t } = useTranslation();
  const [base, setBase] = useState(version);
  const [wanted] = useState(values);
  const review = useDefaultsReview({ group, values: wanted, version: base });
  const save = useSaveDefaults();
  const stored = useDefaults();
  const of = originText(t, group);
  const error = save.error ?? review.error;
  const stale = error instanceof Problem && error.status === 412;
  const faulty = error instanceof Problem && error.code === 'invalid' && error.faults.length > 0;
  const { refetch } = stored;
  useEffect(() => {
    if (stale) void refetch();
  }, [stale, refetch]);
  // The form shows faults at its fields.
  const refuse = useRef(onRefused);
  refuse.current = onRefused;
  useEffect(() => {
    if (faulty) refuse.current?.(error);
  }, [faulty, error]);
  const now = stored.data?.items.find((one) => one.group === group);
  const again = () => {
    save.reset();
    setBase(now?.version);
  };
  const confirm = () =>
    save.mutate({ group, values: wanted, version: base }, {
      onSuccess: (saved) => {
        const done = t(act === 'delete' ? 'defaultsReview.deleted' : 'defaultsReview.saved', { of });
        showNotice(t, saved.review.pending ? `${done} ${t('defaultsReview.pending')}` : done);
        onSaved(saved);
      },
    });
  // A disabled button cannot have the focus.
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (review.data) button.current?.focus();
  }, [review.data]);
  return (
    <Modal opened size="xl" onClose={onClose} title={t(act === 'delete' ? 'defaultsReview.deleteTitle' : act === 'restore' ? 'defaultsReview.restoreTitle' : 'defaultsReview.title', { of })} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Stack gap="md" data-defaults-review="">
        {review.isPending && <Waiting rows={3} />}
        {stale && (
          <Alert color="yellow" variant="light" icon={<Icon name="warn" />} role="alert" title={t('defaultsReview.staleTitle')}>
            <div>{t('defaultsReview.staleText')}</div>
            <details className="unfold"><summary>{t('defaultsReview.theirs')}</summary><CodeBlock label={t('defaultsReview.theirs')}>{JSON.stringify(valuesOf(now ?? {}), null, 2)}</CodeBlock></details>
            <Button mt="xs" size="xs" variant="default" loading={stored.isFetching} onClick={again}>{t('defaultsReview.again')}</Button>
          </Alert>
        )}
        {error && !stale && <ProblemNotice error={error} {...(!faulty && review.error && { onRetry: () => void review.refetch() })} />}
        {review.data && !stale && <Effect review={review.data.review} ofDefaults />}
        {review.data?.warnings && !stale && (
          <Alert color="yellow" variant="light" icon={<Icon name="warn" />} role="alert">
            <ul className={classes.plain}>{review.data.warnings.map((warning, i) => <li key={i}><FaultLine fault={warning} /></li>)}</ul>
          </Alert>
        )}
        <Group justify="flex-end" className="stays">
          <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
          <Button ref={button} data-autofocus {...(act === 'delete' && { color: 'red' })} loading={save.isPending} disabled={!review.data || stale || review.data.review.refused > 0} onClick={confirm}>
            {t(act === 'delete' ? 'defaultsReview.remove' : act === 'restore' ? 'defaultsReview.restore' : 'defaultsReview.save')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** The number of jobs and fires that change, and the jobs in detail. */
export function Effect({ review, ofDefaults }: { review: Review; /** The jobs inherit the change, which is refused as a whole. */ ofDefaults: boolean }) {
  const { t, i18n } = useTranslation();
  const { refused, changed, fields, unlisted } = reviewParts(review);
  const moved = [review.firesGone > 0 && t('defaultsReview.gone', { count: review.firesGone }), review.firesNew > 0 && t('defaultsReview.come', { count: review.firesNew })].filter((part) => part !== false);
  const counts = [
    fields > 0 ? t('defaultsReview.changedIn', { jobs: t('defaultsReview.changed', { count: review.changed }), fields: t('defaultsReview.fields', { count: fields }) }) : t('defaultsReview.changed', { count: review.changed }),
    ...(moved.length > 0 ? moved : [t('defaultsReview.noFires')]),
    ...(review.restarts ? [t('defaultsReview.restarts', { count: review.restarts })] : []),
  ];
  return (
    <>
      <section aria-label={t('defaultsReview.summary')}>
        <p className={classes.summary} data-summary="">{review.changed === 0 ? t('defaultsReview.unchanged') : listed(counts, i18n.language)}</p>
        <p className="small dim">{ofDefaults && t('defaultsReview.of', { count: review.jobs })} {moved.length > 0 && t('defaultsReview.within')}</p>
      </section>
      {review.refused > 0 && (
        <Alert color="red" variant="light" icon={<Icon name="warn" />} role="alert" title={t(ofDefaults ? 'defaultsReview.refused' : 'manyJobs.wouldRefuse', { count: review.refused })}>
          <ul className={classes.plain} aria-label={t('defaultsReview.refusedJobs')}>{refused.map((item) => <Refused key={item.name} item={item} />)}</ul>
        </Alert>
      )}
      {changed.length > 0 && <ul className={classes.jobs} aria-label={t('defaultsReview.jobs')}>{changed.map((item) => <Changed key={item.name} item={item} />)}</ul>}
      {unlisted > 0 && <p className="small dim">{t('defaultsReview.more', { count: unlisted })}</p>}
    </>
  );
}

/** A fault, or a value that is probably not intended, with its field. */
function FaultLine({ fault }: { fault: Fault }) {
  const { t, i18n } = useTranslation();
  const field = fault.location.replace(/^body\.?/, '');
  return <>{field && <code>{visible(field)}</code>} {visible(faultText(t, i18n.language, fault))}</>;
}

function Refused({ item }: { item: AffectedJob }) {
  return (
    <li className="break" data-refused={item.name}>
      <Link to="/jobs/$name" params={{ name: item.name }} target="_blank">{visible(item.name)}</Link>
      <ul>
        {(item.faults ?? []).map((fault, i) => <li key={i}><FaultLine fault={fault} /></li>)}
      </ul>
    </li>
  );
}

/** A job that changes: its fields, and on demand the difference and its fires. */
function Changed({ item }: { item: AffectedJob }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <li data-changed={item.name}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className={classes.head}>
          <span className={classes.chevron}><Icon name="right" size={14} /></span>
          <strong className="break">{item.title ? <PlainText>{item.title}</PlainText> : visible(item.name)}</strong>
          {item.title && <span className="small dim break">{visible(item.name)}</span>}
          <span className={classes.fields}>{item.fields.length > 0 ? item.fields.map((field) => <code key={field}>{field}</code>) : <span className="small dim">{t('defaultsReview.origin')}</span>}</span>
        </summary>
        {open && (
          <div className={classes.body}>
            {item.diff && <DiffView diff={item.diff} label={t('defaultsReview.diffOf', { name: visible(item.name) })} />}
            <Fires title={t('defaultsReview.firesGone')} times={item.firesGone} />
            <Fires title={t('defaultsReview.firesCome')} times={item.firesNew} />
          </div>
        )}
      </details>
    </li>
  );
}

function Fires({ title, times = [] }: { title: string; times?: readonly string[] | undefined }) {
  if (times.length === 0) return null;
  return (
    <p className="small">
      <strong>{title}</strong>{' '}
      {times.map((at, i) => <span key={at}>{i > 0 && ' · '}<TimeText at={at} /></span>)}
    </p>
  );
}
