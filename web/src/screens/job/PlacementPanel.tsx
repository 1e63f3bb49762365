import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { usePlacement } from '../../api/jobs.ts';
import type { Candidate } from '../../api/types.ts';
import { CauseLinks } from '../../parts/CauseLinks.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { Why } from '../../parts/Why.tsx';
import classes from './PlacementPanel.module.css';

// The first workers are enough; others matter only if all of these are gone.
const shown = 12;

/** The eligible workers by rank, and why the others are not. */
export function PlacementPanel({ name, group }: { name: string; group: string | undefined }) {
  const { t } = useTranslation();
  const placement = usePlacement(name);
  const items = placement.data?.items;
  const may = items?.filter((c) => c.eligible) ?? [];
  const others = items?.filter((c) => !c.eligible) ?? [];
  return (
    <Panel title={t('placement.title')}>
      {placement.error && !items && <ProblemNotice error={placement.error} />}
      {!items && !placement.error && <Waiting rows={2} />}
      {items && (
        <div className={classes.box} data-placement="">
          {placement.data?.reason && <p className={classes.noWorker}><Why reason={placement.data.reason} /></p>}
          <CauseLinks reason={placement.data?.reason} job={name} group={group} />
          {items.length === 0 && !placement.data?.reason && <p className="dim">{t('placement.noWorker')}</p>}
          {may.length > 0 && (
            <ol className={classes.list} aria-label={t('placement.may')}>
              {may.slice(0, shown).map((c, i) => (
                <li key={c.worker}>
                  <span className={classes.name}>
                    <span className={classes.rank} aria-hidden="true">{(c.rank ?? i) + 1}</span>
                    <Name of={c} />
                  </span>
                  <span className="small dim">{c.rank === 0 ? t('placement.first') : t('placement.stands')}</span>
                </li>
              ))}
            </ol>
          )}
          {may.length > shown && <p className="small dim">{t('placement.more', { count: may.length - shown })}</p>}
          {others.length > 0 && (
            <>
              <h3 className={classes.subtitle}>{t('placement.others')}</h3>
              <ul className={classes.list}>
                {others.slice(0, shown).map((c) => (
                  <li key={c.worker}>
                    <Name of={c} />
                    {c.reason && <span className="small dim"><Why reason={c.reason} of="verdicts" /></span>}
                  </li>
                ))}
              </ul>
              {others.length > shown && <p className="small dim">{t('placement.more', { count: others.length - shown })}</p>}
            </>
          )}
        </div>
      )}
    </Panel>
  );
}

function Name({ of }: { of: Candidate }) {
  return <Link to="/workers/$id" params={{ id: of.worker }} className={classes.worker}><PlainText>{of.name}</PlainText></Link>;
}
