import type { NodeProps } from '@xyflow/react';
import { memo, use } from 'react';
import { useText } from '../../i18n/useText.ts';
import { visible } from '../../lib/visible.ts';
import { Icon, type IconName } from '../../parts/icons.tsx';
import { PlainLink } from '../../parts/PlainLink.tsx';
import { nodeLooks } from '../looks.ts';
import { hasMarks, mostSquares } from '../model/sizes.ts';
import type { StepKind } from '../model/steps.ts';
import { countsOf, ranked } from '../model/state.ts';
import { GraphActsContext } from './context.ts';
import classes from './Nodes.module.css';
import type { StepData, StepNodeType } from './nodes.ts';
import { itemsText, spoken, tookText } from './words.ts';

export const kindIcons: Record<StepKind, IconName> = { command: 'terminal', job: 'calendar', approval: 'user', wait: 'clock', join: 'join' };

/** A step: its name and status, its marks, and the items of a map. */
export const StepNode = memo(function StepNode({ id, data }: NodeProps<StepNodeType>) {
  const { t, language } = useText();
  const { open } = use(GraphActsContext);
  const { step, state, selected, faulty } = data;
  const look = state && nodeLooks[state.status];
  const name = visible(step.title ?? step.name);
  return (
    <div className={classes.node} data-tone={look?.tone} data-status={state?.status} data-kept={state?.kept || undefined} data-selected={selected || undefined} data-faulty={faulty || undefined}>
      <button type="button" className={classes.open} tabIndex={-1} data-node={id} aria-current={selected || undefined} title={[name, step.title && step.name, step.fires && t('flow.waitsForJob', { job: step.job }), step.fires && t(`flow.fires.${step.fires}`)].filter((line) => typeof line === 'string').join('\n')} onClick={() => open(id)}>
        <Icon name={faulty ? 'warn' : kindIcons[step.kind]} size={14} />
        <span className={classes.name}>{name === '' ? t('flow.unnamed') : name}</span>
        <span className="unseen">; {visible(spoken(t, language, step, state, faulty))}</span>
      </button>
      <span className={classes.line} aria-hidden="true">
        {look && state ? (
          <>
            <span className={classes.status} data-tone={look.tone} title={state.reason}><Icon name={look.icon} size={12} />{t(`flow.status.${state.status}`)}</span>
            <span className={classes.took}>{state.kept ? t('flow.kept') : <>{state.attempt !== undefined && state.attempt > 1 && `×${state.attempt} `}{tookText(state, language)}</>}</span>
          </>
        ) : (
          <span className={classes.kind}>{step.kind === 'command' && step.title ? step.name : t(`flow.kind.${step.kind}`)}</span>
        )}
      </span>
      {hasMarks(step) && <Marks data={data} />}
      {step.map && <Items id={id} data={data} />}
    </div>
  );
});

/** The job of a step, and how it differs from a step that needs the success of all before it. */
function Marks({ data: { step } }: { data: StepData }) {
  const { t } = useText();
  return (
    <span className={classes.marks}>
      {step.job && <PlainLink className={classes.job} href={`/jobs/${encodeURIComponent(step.job)}`} tabIndex={-1} title={t('flow.openJob', { job: step.job })}>{visible(step.job)}</PlainLink>}
      {step.finally && <span className={classes.mark} data-clean-up="" aria-hidden="true" title={t('flow.cleanUpHelp')}><Icon name="broom" size={12} />{t('flow.cleanUp')}</span>}
      {step.rule !== 'all_success' && <span className={classes.mark} aria-hidden="true" title={t(`flow.ruleHelp.${step.rule}`)}>{t(`flow.rule.${step.rule}`)}</span>}
      {step.when && <span className={classes.mark} aria-hidden="true" title={t('flow.whenIs', { when: step.when })}>{t('flow.when')}</span>}
      {step.allowFailure && <span className={classes.mark} aria-hidden="true" title={t('flow.mayFailHelp')}>{t('flow.mayFail')}</span>}
    </span>
  );
}

/** The items of a map: counts, and squares once it is opened. */
function Items({ id, data: { step, state, opened } }: { id: string; data: StepData }) {
  const { t } = useText();
  const { toggleItems } = use(GraphActsContext);
  const items = state?.items ?? [];
  return (
    <>
      <span className={classes.items}>
        <span className={classes.text} aria-hidden="true">{itemsText(t, step, state)}</span>
        {items.length > 0 && (
          <button type="button" className={classes.toggle} tabIndex={-1} aria-expanded={opened} aria-label={t('flow.showItems', { step: step.name })} title={t('flow.showItems', { step: step.name })} onClick={() => toggleItems(id)}>
            <span className={classes.bar} aria-hidden="true">
              {ranked(countsOf(items.map((status) => ({ status })))).map(([status, count]) => <span key={status} data-tone={nodeLooks[status].tone} style={{ flexGrow: count }} />)}
            </span>
            <Icon name={opened ? 'up' : 'down'} size={12} />
          </button>
        )}
      </span>
      {opened && (
        <span className={classes.squares} aria-hidden="true">
          {items.slice(0, mostSquares).map((status, i) => <span key={i} data-tone={nodeLooks[status].tone} title={`${i}: ${t(`flow.status.${status}`)}`}><Icon name={nodeLooks[status].icon} size={11} /></span>)}
        </span>
      )}
    </>
  );
}
