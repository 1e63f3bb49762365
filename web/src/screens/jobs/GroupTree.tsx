import { TextInput } from '@mantine/core';
import { useMemo, useState, type MouseEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useGroups } from '../../api/jobList.ts';
import { jobsAddress, noGroup, type JobFilter } from '../../lib/jobFilter.ts';
import { Icon } from '../../parts/icons.tsx';
import { isPlainClick } from '../../parts/PlainLink.tsx';
import classes from './FilterPanel.module.css';
import { groupTree, isWithin, narrowTree, type GroupNode } from './tree.ts';

/** Longer lists can be searched, and are shown in full on demand. */
const many = 12;
const atOnce = 150;

interface Props {
  filter: JobFilter;
  onChange: (group: string | undefined) => void;
}

/** The groups as a tree, each with its number of jobs, including subgroups, and of paused ones. */
export function GroupTree({ filter, onChange }: Props) {
  const { t, i18n } = useTranslation();
  const groups = useGroups().data?.items;
  const [text, setText] = useState('');
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false);
  const tree = useMemo(() => groupTree(groups ?? []), [groups]);
  const found = useMemo(() => narrowTree(tree, text.trim().toLowerCase()), [tree, text]);
  if (!groups) return null;
  const number = new Intl.NumberFormat(i18n.language);
  const total = groups.reduce((sum, { jobs, paused }) => ({ jobs: sum.jobs + jobs, paused: sum.paused + paused }), { jobs: 0, paused: 0 });
  const without = groups.find((group) => group.name === '');
  // The path to the selected group is expanded, unless the user has collapsed it.
  const isOpen = (node: GroupNode) =>
    opened.has(node.path) || (!closed.has(node.path) && (text !== '' || (filter.group !== undefined && filter.group !== node.path && isWithin(filter.group, node.path))));
  const toggle = (node: GroupNode) => {
    const open = isOpen(node);
    const put = (set: ReadonlySet<string>, there: boolean) => new Set(there ? [...set, node.path] : [...set].filter((path) => path !== node.path));
    setOpened(put(opened, !open));
    setClosed(put(closed, open));
  };
  const pick = (event: MouseEvent, group: string | undefined) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    onChange(group);
  };
  const line = (group: string | undefined, label: string, jobs: number, paused: number) => (
    <a
      href={jobsAddress({ ...filter, group })} className={classes.option} aria-current={filter.group === group ? 'true' : undefined} data-group={group ?? ''}
      title={group === noGroup ? undefined : group} onClick={(event) => pick(event, group)}
    >
      <span className={classes.label}>{label}</span>
      {paused > 0 && <span className={classes.paused} title={t('jobs.pausedOf', { count: paused })} aria-hidden="true"><Icon name="pause" size={11} />{number.format(paused)}</span>}
      <span className={classes.count}>{number.format(jobs)}</span>{paused > 0 && <span className="unseen"> {t('jobs.pausedIn', { count: paused })}</span>}
    </a>
  );
  const branch = (nodes: readonly GroupNode[]) => (
    <ul className={classes.list}>
      {nodes.slice(0, all ? undefined : atOnce).map((node) => {
        const open = node.children.length > 0 && isOpen(node);
        return (
          <li key={node.path}>
            <span className={classes.line}>
              {node.children.length > 0 ? (
                <button type="button" className={classes.fold} aria-expanded={open} aria-label={t(open ? 'jobs.fold' : 'jobs.unfold', { group: node.path })} onClick={() => toggle(node)}>
                  <Icon name={open ? 'down' : 'right'} size={12} />
                </button>
              ) : <span className={classes.fold} />}
              {line(node.path, node.label, node.jobs, node.paused)}
            </span>
            {open && branch(node.children)}
          </li>
        );
      })}
      {!all && nodes.length > atOnce && <li><button type="button" className={classes.more} onClick={() => setAll(true)}>{t('jobs.allGroups', { count: nodes.length })}</button></li>}
    </ul>
  );
  return (
    <nav aria-label={t('jobs.groups')} className={classes.section}>
      <h2 className={classes.name}>{t('jobs.groups')}</h2>
      {groups.length > many && (
        <TextInput size="xs" type="text" role="searchbox" aria-label={t('jobs.findGroup')} placeholder={t('jobs.findGroup')} value={text} spellCheck={false} leftSection={<Icon name="search" size={13} />} onChange={(event) => setText(event.currentTarget.value)} />
      )}
      <div className={classes.line}><span className={classes.fold} />{line(undefined, t('jobs.all'), total.jobs, total.paused)}</div>
      {branch(found)}
      {text !== '' && found.length === 0 && <p className={classes.hint}>{t('jobs.noGroupFound')}</p>}
      {without && without.jobs > 0 && without.jobs < total.jobs && text === '' && (
        <div className={classes.line}><span className={classes.fold} />{line(noGroup, t('jobs.withoutGroup'), without.jobs, without.paused)}</div>
      )}
    </nav>
  );
}
