import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useDefinitionGraph, useRunNodes } from '../../api/flowRuns.ts';
import { isTerminal } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { reasonText } from '../../parts/reasonText.ts';
import { graphOf } from '../model/graph.ts';
import { statesOf } from '../model/runNodes.ts';
import { stepsOf } from '../model/steps.ts';
import { writtenOf } from '../model/written.ts';

/**
 * Returns the nodes of a flow run with their states, and the graph of the definition which the run started with. That
 * may no longer be known: then drawn is undefined, and the graph has the steps alone.
 */
export function useFlowRun(run: Run) {
  const { t, i18n } = useTranslation();
  const nodes = useRunNodes(run.id, !isTerminal(run.status));
  const known = useDefinitionGraph(run.job, run.digest);
  const items = nodes.data?.items;
  const drawn = useMemo(() => known.data && graphOf(writtenOf(known.data)), [known.data]);
  const bare = useMemo(() => graphOf(stepsOf((items ?? []).filter(({ item }) => item === undefined).map(({ step: name, title }) => ({ name, title })))), [items]);
  const states = useMemo(() => statesOf(items ?? [], (reason) => reasonText(t, i18n.language, reason)), [items, t, i18n.language]);
  return { nodes, known, drawn, graph: drawn ?? bare, states };
}
