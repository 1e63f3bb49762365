import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRunOutput } from '../../api/output.ts';
import { LogStore } from '../../lib/logstore.ts';
import { LogView } from '../../parts/log/LogView.tsx';
import { PlainLink } from '../../parts/PlainLink.tsx';

const nothing = new LogStore();
const ignore = () => undefined;

/** The output of a node's run, live. Its own page can search and download it. */
export function NodeLog({ run }: { run: string }) {
  const { t } = useTranslation();
  const { output, state } = useRunOutput(run, true, false);
  const [follow, setFollow] = useState(true);
  const store = output?.store ?? nothing;
  const empty = state.complete && store.count === 0;
  return (
    <section aria-label={t('flowRun.output')}>
      {empty ? <p className="small dim">{t('run.noOutput')}</p> : (
        <LogView
          ref={null} store={store} version={state.version} only={undefined} wrap times={false} follow={follow} numbers={state.from === 0} hash="" none={t('run.nothingYet')}
          pattern={undefined} current={undefined} picked={undefined} onPick={ignore} onFollow={setFollow}
        />
      )}
      <p className="small"><PlainLink href={`/runs/${encodeURIComponent(run)}`}>{t('flowRun.openRun')}</PlainLink></p>
    </section>
  );
}
