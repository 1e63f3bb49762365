import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../icons.tsx';
import { PlainLink } from '../PlainLink.tsx';
import classes from './Gantt.module.css';
import { nameHeight, type LaneBox } from './layout.ts';

interface Props {
  boxes: readonly LaneBox[];
  width: number | undefined;
  onToggle: (group: string) => void;
}

/**
 * The names of visible lanes, beside them, or above each if there is no room. They stay in place while the user pans.
 */
export const GanttLabels = memo(function GanttLabels({ boxes, width, onToggle }: Props) {
  const { t } = useTranslation();
  return (
    <ul className={classes.labels} style={{ width }} aria-label={t('timeline.lanes')}>
      {boxes.map(({ lane, top, height }) => (
        <li key={lane.id} className={classes.lane} data-kind={lane.kind} data-in={lane.group !== '' && lane.kind === 'one'} style={{ top, height: width === undefined && lane.kind === 'one' ? nameHeight + 3 : height }}>
          {lane.kind === 'group' ? (
            <button type="button" className={classes.group} aria-expanded={!lane.closed} onClick={() => onToggle(lane.group)}>
              <Icon name={lane.closed ? 'right' : 'down'} size={13} />
              <bdi>{visible(lane.name)}</bdi>
            </button>
          ) : lane.id.startsWith('j ') ? (
            <PlainLink href={`/jobs/${encodeURIComponent(lane.name)}`} title={visible(lane.title ? `${lane.title}\n${lane.name}` : lane.name)}><bdi>{visible(lane.title ?? lane.name)}</bdi></PlainLink>
          ) : (
            <span title={visible(lane.name)}><bdi>{lane.name === '' ? t('timeline.noWorker') : visible(lane.name)}</bdi></span>
          )}
        </li>
      ))}
    </ul>
  );
});
