import { Button, NativeSelect } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useVersion, useVersionDiff, useVersions } from '../../api/versions.ts';
import type { JobVersion } from '../../api/types.ts';
import { useRights } from '../../parts/session.ts';
import { formatTime } from '../../lib/time.ts';
import { versionNumber } from '../../lib/versionNumber.ts';
import { actorText } from '../../parts/actorText.ts';
import { DiffView } from '../../parts/DiffView.tsx';
import { Icon, type IconName } from '../../parts/icons.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { pairOf } from './pair.ts';
import { RestoreDialog } from './RestoreDialog.tsx';
import { RollbackDialog } from './RollbackDialog.tsx';
import classes from './VersionsPanel.module.css';

const signs: Record<JobVersion['verb'], IconName> = { create: 'plus', replace: 'pencil', patch: 'pencil', rollback: 'left', pause: 'pause', resume: 'play', inherit: 'inherit', delete: 'trash' };

interface Props {
  name: string;
  /** The current version; undefined for a deleted job. */
  current: number | undefined;
  /** Reports whether the job can be rolled back to a version. */
  mayEdit: boolean;
  picked: number | undefined;
  other: number | undefined;
  onPick: (picked: number, other?: number) => void;
}

/** The versions of the job's definition, and the difference between any two. */
export function VersionsPanel({ name, current, mayEdit, picked, other, onPick }: Props) {
  const { t } = useTranslation();
  const versions = useVersions(name);
  const items = versions.data?.pages.flatMap((page) => page.items) ?? [];
  const shown = pairOf(items, picked, other);
  return (
    <div className={classes.columns}>
      <Panel title={t('versions.title')}>
        {versions.error && !versions.data && <ProblemNotice error={versions.error} onRetry={() => void versions.refetch()} />}
        {versions.isPending && <Waiting />}
        {versions.data?.pages.some((page) => page.partial) && <PartialNotice />}
        {versions.data && items.length === 0 && <p className="dim">{t('versions.none')}</p>}
        <ol className={classes.list} data-versions="">
          {items.map((item) => (
            <li key={item.version} data-version={item.version} data-picked={item.version === shown?.version}>
              <VersionRow name={name} item={item} current={item.version === current} picked={item.version === shown?.version} />
            </li>
          ))}
        </ol>
        {versions.hasNextPage && <Button variant="default" size="xs" loading={versions.isFetchingNextPage} onClick={() => void versions.fetchNextPage()}>{t('versions.older')}</Button>}
      </Panel>
      {shown && <Comparison name={name} items={items} current={current} mayEdit={mayEdit} shown={shown} onPick={onPick} />}
    </div>
  );
}

function VersionRow({ name, item, current, picked }: { name: string; item: JobVersion; current: boolean; picked: boolean }) {
  const { t } = useTranslation();
  return (
    <>
      <span className={classes.sign} data-verb={item.verb}><Icon name={signs[item.verb]} size={15} /></span>
      <div className={classes.what}>
        <span className="spaced">
          <Link
            to="/jobs/$name" params={{ name }} search={{ tab: 'versions', version: item.version }} replace resetScroll={false} className={classes.pick} title={t('versions.revision', { revision: item.version })} {...(picked && { 'aria-current': 'true' as const })}
          >
            {t('versions.number', { version: versionNumber(item) })}
          </Link>
          <span>{t(`versions.verb.${item.verb}`)}</span>
          {current && <span className={classes.current}>{t('versions.current')}</span>}
        </span>
        {item.fields && item.fields.length > 0 && <span className={classes.fields}>{item.fields.map((field) => <code key={field}>{field}</code>)}</span>}
        {item.note && <span className={classes.note}><PlainText>{item.note}</PlainText></span>}
        <span className="small dim spaced">
          <TimeText at={item.at} />
          {item.by && <span title={item.remote ? t('versions.from', { address: item.remote }) : undefined}><bdi>{actorText(t, item.by)}</bdi></span>}
        </span>
      </div>
    </>
  );
}

function Comparison({ name, items, current, mayEdit, shown: { version, other, pair }, onPick }: {
  name: string;
  items: readonly JobVersion[];
  current: number | undefined;
  mayEdit: boolean;
  shown: NonNullable<ReturnType<typeof pairOf>>;
  onPick: Props['onPick'];
}) {
  const { t, i18n } = useTranslation();
  const diff = useVersionDiff(name, pair);
  const [asking, setAsking] = useState(false);
  const numberOf = (of: number) => versionNumber(items.find((i) => i.version === of) ?? { version: of });
  const number = numberOf(version);
  const item = items.find((i) => i.version === version);
  const label = (v: JobVersion) => `${t('versions.number', { version: versionNumber(v) })} · ${t(v.version === current ? 'versions.current' : `versions.verb.${v.verb}`)} · ${formatTime(v.at, i18n.language)}`;
  const gone = item?.verb === 'delete';
  // A deleted job has no group any more: restoring it needs a role in the former one.
  const may = useRights();
  const then = useVersion(name, current === undefined && !gone ? version : undefined).data?.job;
  const mayGoBack = current === undefined ? then !== undefined && may('editor', then.group ?? '') : mayEdit;
  const title = pair ? t('versions.diffOf', { from: numberOf(pair[0]), to: numberOf(pair[1]) }) : t('versions.number', { version: number });
  return (
    <Panel
      title={title}
      side={
        mayGoBack && !gone && version !== current && (
          <Button variant="default" size="xs" leftSection={<Icon name="left" size={14} />} onClick={() => setAsking(true)}>
            {t(current === undefined ? 'versions.restore' : 'versions.rollback', { version: number })}
          </Button>
        )
      }
    >
      <div className={classes.comparison} data-comparison={diff.data && !diff.isPlaceholderData ? `${diff.data.from} ${diff.data.to}` : ''}>
        {items.length > 1 && (
          <NativeSelect
            size="xs" label={t('versions.with', { version: number })} value={other ?? ''} onChange={(e) => onPick(version, Number(e.currentTarget.value))}
            data={[
              ...(other === undefined ? [{ value: '', label: t('common.none') }] : items.some((i) => i.version === other) ? [] : [{ value: String(other), label: t('versions.number', { version: numberOf(other) }) }]),
              ...items.filter((i) => i.version !== version).map((i) => ({ value: String(i.version), label: label(i) })),
            ]}
          />
        )}
        {!pair && <p className="dim">{t('versions.only')}</p>}
        {pair && diff.error && <ProblemNotice error={diff.error} onRetry={() => void diff.refetch()} />}
        {pair && diff.isPending && <Waiting rows={3} />}
        {pair && diff.data && !diff.error && (
          <div className={classes.diff} aria-busy={diff.isPlaceholderData}>
            {diff.data.fields.length > 0 && (
              <p className={classes.fields}>
                <span className="small dim">{t('versions.fields')}</span> {diff.data.fields.map((field) => <code key={field}>{field}</code>)}
              </p>
            )}
            <DiffView diff={diff.data.diff} label={title} />
          </div>
        )}
      </div>
      {asking && current !== undefined && <RollbackDialog name={name} version={version} number={number} onClose={() => setAsking(false)} onDone={(now) => onPick(now)} />}
      {asking && current === undefined && <RestoreDialog name={name} version={version} number={number} onClose={() => setAsking(false)} />}
    </Panel>
  );
}
