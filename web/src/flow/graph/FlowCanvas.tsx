import '@xyflow/react/dist/base.css';
import { ReactFlow, ReactFlowProvider, useReactFlow, useStore, type ReactFlowState } from '@xyflow/react';
import { useCallback, useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useSize } from '../../lib/useSize.ts';
import { groupsOf, visibleOf, type Group } from '../model/fold.ts';
import { isArrow, neighbourOf } from '../model/neighbours.ts';
import { directionOf, sizeOf } from '../model/sizes.ts';
import type { FlowGraphProps } from '../props.ts';
import { GraphActsContext, type GraphActs } from './context.ts';
import { boundsOf, edgesOf, labelOf, labelWidth, nodesOf, smallestZoom, viewOf, type Content } from './draw.ts';
import { EdgeLayer } from './EdgeLayer.tsx';
import classes from './FlowCanvas.module.css';
import { GraphTools } from './GraphTools.tsx';
import { GroupNode, MissingNode } from './GroupNode.tsx';
import type { DrawnNode } from './nodes.ts';
import { StepNode } from './StepNode.tsx';
import { useLayout } from './useLayout.ts';

const nodeTypes = { step: StepNode, group: GroupNode, missing: MissingNode };
const distance = ({ transform: [, , zoom] }: ReactFlowState) => (zoom < 0.2 ? 'farther' : zoom < 0.4 ? 'far' : undefined);
const nothing: ReadonlySet<string> = new Set();
/** Above this many nodes only those in view exist. Fewer are all kept: to look for those in view costs more than they do. */
const culled = 400;

/** The drawing of a flow. */
export default function FlowCanvas(props: FlowGraphProps) {
  return <ReactFlowProvider><Canvas {...props} /></ReactFlowProvider>;
}

function Canvas({ graph, states, selected, faulty = nothing, label, onOpen, onClose }: FlowGraphProps) {
  const { t } = useTranslation();
  const view = useReactFlow();
  const { viewportInitialized } = view;
  const frame = useRef<HTMLDivElement>(null);
  const help = useId();
  const { width, height } = useSize(frame);
  const away = useStore(distance);

  const groups = useMemo(() => groupsOf(graph), [graph]);
  const [unfolded, setUnfolded] = useState(nothing);
  const [opened, setOpened] = useState(nothing);
  const openItems = useMemo(() => new Map([...opened].map((id) => [id, states?.get(id)?.items?.length] as const)), [opened, states]);
  const itemCounts = JSON.stringify([...openItems]);
  const shown = useMemo(() => visibleOf(graph, groups.filter(({ id }) => !unfolded.has(id))), [graph, groups, unfolded]);
  const direction = useMemo(() => directionOf(shown, width, height), [shown, width, height]);
  const content = useMemo((): Content => {
    const counts = new Map(JSON.parse(itemCounts) as [string, number][]);
    return { graph, visible: shown, input: { direction, sizes: shown.nodes.map((node) => sizeOf(node, graph, counts.get(node.id))), edges: [...shown.edges.map(({ from, to }) => [from, to] as const), ...shown.order], labels: [...shown.edges.map((edge) => labelWidth(labelOf(t, edge))), ...shown.order.map(() => 0)] } };
  }, [t, graph, shown, direction, itemCounts]);
  const { placed, busy } = useLayout(content);

  const drawn = useRef<ReadonlyMap<string, DrawnNode>>(new Map());
  const nodes = useMemo(() => (placed ? nodesOf(placed.of, placed.layout, { states, faulty, opened, selected }, drawn.current) : []), [placed, states, faulty, opened, selected]);
  useEffect(() => void (drawn.current = new Map(nodes.map((node) => [node.id, node]))), [nodes]);
  const edges = useMemo(() => placed && edgesOf(t, placed.of, placed.layout), [t, placed]);

  // Until the user moves the view, it follows the graph.
  const moved = useRef(false);
  const fit = useCallback((whole: boolean) => {
    if (!viewportInitialized || !placed || width === 0 || height === 0) return;
    void view.setViewport(viewOf(boundsOf(placed.layout, placed.of.input), width, height, direction, whole));
  }, [view, viewportInitialized, placed, width, height, direction]);
  useEffect(() => {
    if (!moved.current) fit(false);
  }, [fit]);

  const wanted = useRef<string | undefined>(undefined);
  const centres = useMemo(() => nodes.map(({ position: { x, y }, width: wide = 0, height: high = 0 }) => ({ x: x + wide / 2, y: y + high / 2 })), [nodes]);
  /** Focuses a node, and moves the view if the node is outside of it. */
  const focus = useCallback((id: string, tries = 10) => {
    const at = centres[nodes.findIndex((node) => node.id === id)];
    if (!at) return;
    const { x, y, zoom } = view.getViewport();
    const [left, top] = [at.x * zoom + x, at.y * zoom + y];
    if (left < 60 || top < 40 || left > width - 60 || top > height - 40) void view.setCenter(at.x, at.y, { zoom });
    // A node outside of the view is rendered once the view has moved.
    const take = (left: number) => {
      const button = frame.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(id)}"]`);
      if (button) button.focus({ preventScroll: true });
      else if (left > 0) requestAnimationFrame(() => take(left - 1));
    };
    take(tries);
  }, [centres, nodes, view, width, height]);
  // After unfolding a group, its first step has the focus, and the view stays with it.
  useEffect(() => {
    if (wanted.current === undefined || busy) return;
    const id = wanted.current;
    wanted.current = undefined;
    focus(id);
  }, [busy, focus]);

  const reveal = useCallback((id: string) => {
    const group = groups.find(({ steps }) => steps.some((i) => graph.ids[i] === id));
    moved.current = true;
    if (!group || unfolded.has(group.id)) return focus(id);
    wanted.current = id;
    setUnfolded((before) => new Set([...before, group.id]));
  }, [groups, graph, unfolded, focus]);

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const here = event.target instanceof HTMLElement ? event.target.dataset.node : undefined;
    if (event.key === 'Escape' && onClose) {
      event.stopPropagation();
      onClose();
      return;
    }
    if (!isArrow(event.key) && event.key !== 'Home' && event.key !== 'End') return;
    if (event.target !== event.currentTarget && here === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const at = nodes.findIndex(({ id }) => id === here);
    const next = isArrow(event.key)
      ? at < 0 ? Math.max(0, nodes.findIndex(({ id }) => id === selected)) : neighbourOf(centres, at, event.key)
      : event.key === 'Home' ? 0 : nodes.length - 1;
    const id = next === undefined ? undefined : nodes[next]?.id;
    if (id !== undefined) focus(id);
  };

  const unfold = useCallback((id: string) => {
    const group = groups.find((one: Group) => one.id === id);
    moved.current = true;
    wanted.current = group && graph.ids[group.steps[0] ?? -1];
    setUnfolded((before) => new Set([...before, id]));
  }, [groups, graph]);
  const acts = useMemo((): GraphActs => ({
    open: (id) => onOpen?.(id),
    unfold,
    toggleItems: (id) => setOpened((before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id])),
  }), [onOpen, unfold]);
  const a11y = useMemo(() => ({ 'node.a11yDescription.default': t('flow.keys'), 'node.a11yDescription.keyboardDisabled': t('flow.keys'), 'edge.a11yDescription.default': t('flow.keys') }), [t]);

  return (
    <GraphActsContext value={acts}>
      <div className={classes.frame} ref={frame} data-far={away} data-flow={busy ? 'busy' : 'ready'}>
        {width > 0 && (
          <ReactFlow
            nodes={nodes} nodeTypes={nodeTypes} ariaLabelConfig={a11y}
            aria-label={label} aria-describedby={help} tabIndex={0} onKeyDown={onKeyDown}
            nodesDraggable={false} nodesConnectable={false} nodesFocusable={false} edgesFocusable={false} elementsSelectable={false} disableKeyboardA11y
            onlyRenderVisibleElements={nodes.length > culled} minZoom={smallestZoom} maxZoom={1.5} zoomOnScroll={false} preventScrolling={false} zoomOnDoubleClick={false}
            deleteKeyCode={null} selectionKeyCode={null} multiSelectionKeyCode={null} panActivationKeyCode={null}
            proOptions={{ hideAttribution: true }} onNodeClick={ignore} onMove={(event) => event && (moved.current = true)}
          >
            {edges && <EdgeLayer edges={edges} />}
          </ReactFlow>
        )}
        <span id={help} className="unseen">{t('flow.keys')}</span>
        <GraphTools graph={graph} busy={busy} groups={groups.length} folded={groups.length - groups.filter(({ id }) => unfolded.has(id)).length} onFold={(fold) => setUnfolded(fold ? nothing : new Set(groups.map(({ id }) => id)))} onWhole={() => fit(true)} onFind={reveal} />
      </div>
    </GraphActsContext>
  );
}

/** Nodes receive the pointer only if there is a handler. */
function ignore() {}
