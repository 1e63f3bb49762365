// Flows of given sizes, with and without states.

import { graphOf } from '../../src/flow/model/graph.ts';
import { isFailure, type NodeState, type NodeStates, type NodeStatus } from '../../src/flow/model/state.ts';
import { stepsOf } from '../../src/flow/model/steps.ts';

/** Layers of the same width; each step depends on some of the layer before. */
export function layered(layers: number, width: number, parents: number): unknown[] {
  return Array.from({ length: layers * width }, (_, n) => {
    const [layer, i] = [Math.floor(n / width), n % width];
    const after = layer === 0 ? [] : [...new Set(Array.from({ length: parents }, (_, k) => `s${layer - 1}-${(i * 7 + k * 13) % width}`))];
    return { name: `s${layer}-${i}`, command: 'true', after };
  });
}

/** Every construct of a definition. */
export const nightly: unknown[] = [
  { name: 'extract', title: 'Extract the day', command: './extract.sh', outputs: { day: {}, files: { list: true } } },
  { name: 'probe', command: 'curl https://warehouse.example/health', allowFailure: true },
  { name: 'load', after: ['extract'], forEach: { list: 'steps.extract.outputs.files', as: 'FILE', maxFailures: 3 }, command: './load.sh "$FILE"' },
  { name: 'report', after: ['load', { step: 'probe', on: 'done' }], job: 'weekly-report' },
  { name: 'alarm', after: [{ step: 'probe', exitCodes: [7, 28] }], when: 'steps.probe.exitCode == 28', command: './alarm.sh' },
  { name: 'publish', after: ['report'], approval: { text: 'Publish the report?' } },
  { name: 'rollback', after: [{ step: 'report', on: 'failure' }], command: './rollback.sh' },
  { name: 'cleanup', after: ['load', 'report'], rule: 'all_done', command: './cleanup.sh' },
];

const at = (minute: number) => new Date(Date.UTC(2026, 10, 24, 2, minute)).toISOString();

export const nightlyStates: NodeStates = new Map<string, NodeState>([
  ['extract', { status: 'succeeded', attempt: 2, startedAt: at(30), endedAt: at(32) }],
  ['probe', { status: 'failed', exitCode: 7, startedAt: at(30), endedAt: at(31) }],
  ['load', { status: 'running', startedAt: at(32), items: [...Array<NodeStatus>(34).fill('succeeded'), 'failed', 'failed', ...Array<NodeStatus>(4).fill('running'), ...Array<NodeStatus>(10).fill('pending')] }],
  ['report', { status: 'pending', reason: 'load has not ended' }],
  ['alarm', { status: 'skipped', reason: 'its condition is false' }],
  ['publish', { status: 'waiting' }],
  ['rollback', { status: 'pending' }],
  ['cleanup', { status: 'pending' }],
]);

/** States of a flow run that is halfway. */
export function halfway(steps: unknown[]): NodeStates {
  const graph = graphOf(stepsOf(steps));
  const last = Math.max(0, ...graph.layers);
  return new Map(graph.steps.map(({ name }, i): [string, NodeState] => {
    const share = (graph.layers[i] ?? 0) / (last || 1);
    const status: NodeStatus = share > 0.6 ? 'pending' : share > 0.5 ? 'running' : i % 37 === 0 ? 'failed' : 'succeeded';
    return [name, { status, ...(status !== 'pending' && { startedAt: at(0) }), ...((status === 'succeeded' || isFailure(status)) && { endedAt: at(1) }) }];
  }));
}

/** Returns the states with other statuses of some steps, spread over all of them. */
export function changed(states: NodeStates, count: number): NodeStates {
  const stride = Math.max(1, Math.floor(states.size / count));
  return new Map([...states].map(([name, state], i): [string, NodeState] => (i % stride === 0 && i / stride < count ? [name, { ...state, status: state.status === 'running' ? 'succeeded' : 'running', startedAt: at(1) }] : [name, state])));
}
