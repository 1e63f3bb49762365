import { ActionIcon, Loader } from '@mantine/core';
import { useReactFlow } from '@xyflow/react';
import { useId, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon, type IconName } from '../../parts/icons.tsx';
import type { FlowGraph } from '../model/graph.ts';
import classes from './FlowCanvas.module.css';

interface Props {
  graph: FlowGraph;
  busy: boolean;
  groups: number;
  /** Number of groups that are closed. */
  folded: number;
  onFold: (fold: boolean) => void;
  onWhole: () => void;
  onFind: (id: string) => void;
}

/** A flow with more steps than this has a field to find one. */
const many = 20;
const offered = 50;

/** Buttons over the drawing: zoom, show all of it, fold; and a field to find a step. */
export function GraphTools({ graph, busy, groups, folded, onFold, onWhole, onFind }: Props) {
  const { t } = useTranslation();
  const view = useReactFlow();
  const tool = (label: string, icon: IconName, onClick: () => void) => (
    <ActionIcon variant="default" size={32} aria-label={label} title={label} onClick={onClick}><Icon name={icon} size={16} /></ActionIcon>
  );
  return (
    <div className={classes.tools}>
      {graph.steps.length > many && <Find graph={graph} onFind={onFind} />}
      {busy && <Loader size="xs" aria-label={t('flow.busy')} />}
      <span role="group" aria-label={t('flow.view')} className={classes.buttons}>
        {groups > 0 && tool(folded > 0 ? t('flow.unfoldAll') : t('flow.foldAll'), folded > 0 ? 'down' : 'up', () => onFold(folded === 0))}
        {tool(t('flow.zoomIn'), 'plus', () => void view.zoomIn())}
        {tool(t('flow.zoomOut'), 'minus', () => void view.zoomOut())}
        {tool(t('flow.showAll'), 'expand', onWhole)}
      </span>
    </div>
  );
}

/** A field with suggestions; Enter moves to the step. */
function Find({ graph, onFind }: Pick<Props, 'graph' | 'onFind'>) {
  const { t } = useTranslation();
  const list = useId();
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = wanted === '' ? [] : graph.steps.flatMap(({ name, title }, i) => (name.includes(wanted) || title?.toLowerCase().includes(wanted) ? [graph.ids[i] ?? ''] : []));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const id = found.find((one) => one === wanted) ?? found[0];
    if (id !== undefined) onFind(id);
  };
  return (
    <span className={classes.find}>
      <Icon name="search" size={14} />
      <input type="text" aria-label={t('flow.find')} placeholder={t('flow.find')} list={list} value={text} spellCheck={false} autoCapitalize="none" autoComplete="off" aria-invalid={wanted !== '' && found.length === 0} onChange={(event) => setText(event.currentTarget.value)} onKeyDown={onKeyDown} />
      <datalist id={list}>{found.slice(0, offered).map((id) => <option key={id} value={id} />)}</datalist>
    </span>
  );
}
