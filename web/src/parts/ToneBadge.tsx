import type { HTMLAttributes, ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';
import classes from './StatusBadge.module.css';
import type { StatusTone } from './statusLooks.ts';

interface Props extends Omit<HTMLAttributes<HTMLSpanElement>, 'className'> {
  tone: StatusTone;
  icon: IconName;
  children: ReactNode;
}

/** A state as a word, a sign and a colour. */
export function ToneBadge({ tone, icon, children, ...rest }: Props) {
  return (
    <span {...rest} className={classes.badge} data-tone={tone}>
      <Icon name={icon} size={13} />
      {children}
    </span>
  );
}
