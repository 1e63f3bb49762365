import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDefaultsVersions } from '../../api/defaults.ts';
import type { Defaults, DefaultsVersion } from '../../api/types.ts';
import { formatTime } from '../../lib/time.ts';
import { actorText } from '../../parts/actorText.ts';
import { Panel } from '../../parts/Panel.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './defaults.module.css';
import { DefaultsFacts } from './DefaultsFacts.tsx';

interface Props {
  group: string;
  current: number | undefined;
  mayEdit: boolean;
  onRestore: (values: Defaults) => void;
}

/** The versions of the defaults of a group, each with its values. */
export function DefaultsVersions({ group, current, mayEdit, onRestore }: Props) {
  const { t } = useTranslation();
  const versions = useDefaultsVersions(group);
  const items = versions.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Panel title={t('defaultsVersions.title')}>
      {versions.error && !versions.data && <ProblemNotice error={versions.error} onRetry={() => void versions.refetch()} />}
      {versions.isPending && <Waiting />}
      {versions.data?.pages.some((page) => page.partial) && <PartialNotice />}
      {versions.data && items.length === 0 && <p className="dim">{t('defaultsVersions.none')}</p>}
      <ol className={classes.versions} data-versions="">
        {items.map((item) => <li key={item.version} data-version={item.version}><Version item={item} current={item.version === current} onRestore={mayEdit ? onRestore : undefined} /></li>)}
      </ol>
      {versions.hasNextPage && <Button variant="default" size="xs" loading={versions.isFetchingNextPage} onClick={() => void versions.fetchNextPage()}>{t('defaultsVersions.older')}</Button>}
    </Panel>
  );
}

function Version({ item, current, onRestore }: { item: DefaultsVersion; current: boolean; onRestore: ((values: Defaults) => void) | undefined }) {
  const { t, i18n } = useTranslation();
  const [open, setOpen] = useState(false);
  const { defaults } = item;
  return (
    <>
      <div className={classes.version}>
        <span className="spaced">
          <TimeText at={item.at} /> <strong>{t(`defaultsVersions.verb.${item.verb}`)}</strong>
          {item.by && <span className="dim"><bdi>{actorText(t, item.by)}</bdi></span>}
          {current && <span className="small dim">{t('defaultsVersions.current')}</span>}
        </span>
        {defaults && !current && onRestore && <Button size="compact-sm" variant="default" aria-label={t('defaultsVersions.restoreOf', { time: formatTime(item.at, i18n.language) })} onClick={() => onRestore(defaults)}>{t('defaultsVersions.restore')}</Button>}
      </div>
      {item.note && <div className="small dim"><PlainText>{item.note}</PlainText></div>}
      {defaults && (
        <details className="unfold" onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{t('defaultsVersions.values')}</summary>
          {open && <DefaultsFacts values={defaults} />}
        </details>
      )}
    </>
  );
}
