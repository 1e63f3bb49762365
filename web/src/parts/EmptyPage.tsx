import { Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import classes from './EmptyPage.module.css';
import { Icon, type IconName } from './icons.tsx';

interface Props {
  icon: IconName;
  title: string;
  /** Nothing else is on the page: its title is the heading of the page, and the title of the tab. */
  whole?: boolean;
  children?: ReactNode;
}

/** A page or panel without content: explains what is shown here and how to create it. */
export function EmptyPage({ icon, title, whole = false, children }: Props) {
  useEffect(() => {
    if (whole) document.title = `${title} · Carillon`;
  }, [whole, title]);
  return (
    <div className={classes.empty}>
      <Icon name={icon} size={36} />
      <Title order={whole ? 1 : 2} size="h4">{title}</Title>
      {children}
    </div>
  );
}
