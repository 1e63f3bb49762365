import type { NodeProps } from '@xyflow/react';
import { memo, use } from 'react';
import { useText } from '../../i18n/useText.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icons.tsx';
import { nodeLooks } from '../looks.ts';
import { failedOf, ranked, summaryOf } from '../model/state.ts';
import { GraphActsContext } from './context.ts';
import classes from './Nodes.module.css';
import type { GroupNodeType, MissingNodeType } from './nodes.ts';
import { countsText, groupName } from './words.ts';

/** Steps that are folded together; a click shows them. */
export const GroupNode = memo(function GroupNode({ id, data: { group, counts, selected, faulty } }: NodeProps<GroupNodeType>) {
  const { t, language } = useText();
  const { unfold } = use(GraphActsContext);
  const status = summaryOf(counts);
  const failed = failedOf(counts);
  const name = groupName(t, group);
  const size = failed > 0 ? t('flow.stepsFailed', { count: group.steps.length, failed }) : t('flow.steps', { count: group.steps.length });
  return (
    <div className={classes.node} data-group="" data-tone={status && nodeLooks[status].tone} data-selected={selected || undefined} data-faulty={faulty || undefined}>
      <button type="button" className={classes.open} tabIndex={-1} data-node={id} aria-expanded={false} onClick={() => unfold(id)}>
        <Icon name={faulty ? 'warn' : 'expand'} size={14} />
        <span className={classes.name}>{name}</span>
        <span className="unseen">; {size}; {countsText(t, language, counts)}{faulty && `; ${t('flow.faulty')}`}</span>
      </button>
      <span className={classes.line} aria-hidden="true">{size}</span>
      <span className={classes.bar} aria-hidden="true" title={countsText(t, language, counts)}>
        {ranked(counts).map(([one, count]) => <span key={one} data-tone={nodeLooks[one].tone} style={{ flexGrow: count }} />)}
      </span>
    </div>
  );
});

/** A name in after that no step has. */
export const MissingNode = memo(function MissingNode({ id, data: { name } }: NodeProps<MissingNodeType>) {
  const { t } = useText();
  const { open } = use(GraphActsContext);
  return (
    <div className={classes.node} data-missing="" data-faulty="">
      <button type="button" className={classes.open} tabIndex={-1} data-node={id} onClick={() => open(id)}>
        <Icon name="warn" size={14} />
        <span className={classes.name}>{visible(name)}</span>
        <span className="unseen">; {t('flow.noSuchStep')}</span>
      </button>
      <span className={classes.line} aria-hidden="true">{t('flow.noSuchStep')}</span>
    </div>
  );
});
