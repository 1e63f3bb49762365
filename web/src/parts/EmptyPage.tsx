import { Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './EmptyPage.module.css';
import { Icon, type IconName } from './icons.tsx';

/** A page, or a part of one, that has nothing to list: it says what would be here and how it gets here. */
export function EmptyPage({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className={classes.empty}>
      <Icon name={icon} size={36} />
      <Title order={2} size="h4">{title}</Title>
      {children}
    </div>
  );
}
