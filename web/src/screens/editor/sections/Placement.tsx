import { useTranslation } from 'react-i18next';
import { useWorkers } from '../../../api/workers.ts';
import { visible } from '../../../lib/visible.ts';
import classes from '../Editor.module.css';
import { Fold } from '../Fold.tsx';
import { Choice, Text, Whole, Words } from '../inputs.tsx';

export function Placement() {
  const { t } = useTranslation();
  return (
    <Fold id="placement" title={t('policy.placement')} fields={['placement.strategy', 'placement.selector', 'placement.workers', 'priority', 'slots']}>
      <PlacementFields />
    </Fold>
  );
}

function PlacementFields() {
  const { t } = useTranslation();
  const workers = useWorkers();
  const known = (workers.data?.items ?? []).filter((worker) => !worker.away);
  const labels = [...new Set(known.flatMap((worker) => Object.entries(worker.labels ?? {}).map(([name, value]) => `${name}=${value}`)))].slice(0, 8);
  return (
    <div className={classes.stack}>
      <Choice
        path={['placement', 'strategy']} otherwise="hash"
        options={{ hash: t('editor.strategies.hash'), least: t('editor.strategies.least'), weight: t('editor.strategies.weight'), any: t('editor.strategies.any') }}
      />
      <div className={classes.pair}>
        <Text path={['placement', 'selector']} />
        <Words path={['placement', 'workers']} known={known.map((worker) => worker.name)} />
      </div>
      {labels.length > 0 && <p className={classes.help}>{t('editor.knownLabels', { items: visible(labels.join(', ')) })}</p>}
      <div className={classes.pair}>
        <Whole path={['priority']} />
        <Whole path={['slots']} />
      </div>
    </div>
  );
}
