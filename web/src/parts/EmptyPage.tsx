import { Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './EmptyPage.module.css';
import { Icon, type IconName } from './icons.tsx';

/** A page or panel without content: explains what is shown here and how to create it. */
export function EmptyPage({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className={classes.empty}>
      <Icon name={icon} size={36} />
      <Title order={2} size="h4">{title}</Title>
      {children}
    </div>
  );
}
