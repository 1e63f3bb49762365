import { useText } from '../i18n/useText.ts';
import { Icon } from '../parts/icons.tsx';
import badge from '../parts/StatusBadge.module.css';
import { nodeLooks } from './looks.ts';
import type { NodeStatus } from './model/state.ts';

/** The status of a node as a word, a sign and a colour. */
export function NodeBadge({ status }: { status: NodeStatus }) {
  const { t } = useText();
  const look = nodeLooks[status];
  return (
    <span className={badge.badge} data-tone={look.tone} data-status={status}>
      <Icon name={look.icon} size={13} />
      {t(`flow.status.${status}`)}
    </span>
  );
}
