import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { definitionOf } from '../../api/definition.ts';
import { useFreshJob, type VersionedJob } from '../../api/jobs.ts';
import { Problem } from '../../api/problem.ts';
import { useVersionDiff } from '../../api/versions.ts';
import type { Definition } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { DiffView } from '../../parts/DiffView.tsx';
import { Icon } from '../../parts/icons.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { merge, type Collision } from './document/merge.ts';
import type { Path } from './document/paths.ts';
import dialogClasses from './dialogs.module.css';
import fieldClasses from './fields.module.css';

interface Props {
  base: VersionedJob;
  mine: Definition;
  /** Number of consecutive conflicts: overwriting can meet another conflict. */
  times: number;
  busy: boolean;
  /** Continues with the merged definition, based on the saved version. */
  onMerge: (changes: { path: Path; value: unknown }[], job: VersionedJob) => void;
  /** Overwrites the saved version; if there is none, creates the job again. */
  onOverwrite: (job: VersionedJob | undefined) => void;
  onTake: (job: VersionedJob) => void;
  onClose: () => void;
}

/** Another user saved or deleted the job being edited: shows their changes, and merges or lets one side win. */
export function ConflictDialog({ base, mine, times, busy, onMerge, onOverwrite, onTake, onClose }: Props) {
  const { t } = useTranslation();
  const fresh = useFreshJob();
  const { mutate } = fresh;
  const { name } = base.job;

  const theirs = fresh.data;
  const deleted = fresh.error instanceof Problem && fresh.error.status === 404;
  // A job that was deleted and created again has no common history.
  const related = theirs?.job.meta.uid === base.job.meta.uid;
  const diff = useVersionDiff(name, theirs && related ? [base.job.meta.version, theirs.job.meta.version] : undefined);
  const merged = useMemo(() => theirs && merge(definitionOf(base.job), definitionOf(theirs.job), mine), [theirs, base, mine]);
  const [chosen, setChosen] = useState<Record<string, 'theirs' | 'mine'>>({});
  useEffect(() => {
    setChosen({});
    mutate(name);
  }, [mutate, name, times]);
  const goOn = () => {
    if (!theirs || !merged) return;
    const won = merged.collisions.filter(({ location }) => chosen[location] === 'theirs').map(({ path, theirs: value }) => ({ path, value }));
    onMerge([...merged.take, ...won], theirs);
  };
  return (
    <Modal opened size="xl" onClose={onClose} title={t('conflict.title')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Stack>
        {times > 1 && <Alert color="yellow" variant="light" icon={<Icon name="warn" />} role="alert">{t('conflict.again')}</Alert>}
        {fresh.isPending && <Waiting rows={3} />}
        {deleted && <p className={dialogClasses.flat}>{t('conflict.deleted')}</p>}
        {fresh.error && !deleted && <ProblemNotice error={fresh.error} onRetry={() => mutate(name)} />}
        {theirs && merged && (
          <>
            <p className={dialogClasses.flat}>{t('conflict.text', { version: theirs.job.meta.number ?? theirs.job.meta.version })}</p>
            {related && (
              <details className={`${fieldClasses.more} unfold`}>
                <summary>{t('conflict.see')}</summary>
                {diff.error && <ProblemNotice error={diff.error} />}
                {diff.data && <DiffView diff={diff.data.diff} label={t('conflict.see')} />}
              </details>
            )}
            {merged.collisions.length === 0 ? (
              <p className={dialogClasses.flat}>{t(merged.take.length === 0 ? 'conflict.same' : 'conflict.clean', { count: merged.take.length })}</p>
            ) : (
              <section aria-label={t('conflict.collisions')}>
                <h3 className={dialogClasses.subhead}>{t('conflict.collisions')}</h3>
                {merged.collisions.map((collision) => (
                  <Collided key={collision.location} collision={collision} chosen={chosen[collision.location] ?? 'mine'} onChoose={(side) => setChosen({ ...chosen, [collision.location]: side })} />
                ))}
                {merged.take.length > 0 && <p className={fieldClasses.help}>{t('conflict.rest', { count: merged.take.length })}</p>}
              </section>
            )}
          </>
        )}
        <Group justify="flex-end" gap="xs" className="stays">
          <Button px="sm" variant="default" onClick={onClose}>{t('conflict.keepEditing')}</Button>
          {theirs && <Button px="sm" variant="default" onClick={() => onTake(theirs)}>{t('conflict.takeTheirs')}</Button>}
          {(theirs || deleted) && (
            <Button px="sm" variant={deleted ? 'filled' : 'default'} loading={busy} onClick={() => onOverwrite(theirs)}>{deleted ? t('conflict.recreate') : t('conflict.overwrite')}</Button>
          )}
          {theirs && <Button px="sm" onClick={goOn}>{t('conflict.merge')}</Button>}
        </Group>
      </Stack>
    </Modal>
  );
}

function Collided({ collision, chosen, onChoose }: { collision: Collision; chosen: 'theirs' | 'mine'; onChoose: (side: 'theirs' | 'mine') => void }) {
  const { t } = useTranslation();
  const text = (value: unknown) => {
    const said = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
    return said === '' ? <span className="dim">{t('conflict.empty')}</span> : <code className="break">{visible(said)}</code>;
  };
  const side = (which: 'theirs' | 'mine', label: string, value: unknown) => (
    <label className={dialogClasses.choice} data-chosen={chosen === which}>
      <input type="radio" name={`collision-${collision.location}`} checked={chosen === which} onChange={() => onChoose(which)} /> <span className={dialogClasses.side}>{label}</span> {text(value)}
    </label>
  );
  return (
    <fieldset className={dialogClasses.collision}>
      <legend><code>{visible(collision.location)}</code></legend>
      {side('theirs', t('conflict.theirs'), collision.theirs)}
      {side('mine', t('conflict.mine'), collision.mine)}
    </fieldset>
  );
}
