import type { Node } from '@xyflow/react';
import type { Group } from '../model/fold.ts';
import type { Point } from '../model/geometry.ts';
import type { Condition, Step } from '../model/steps.ts';
import type { Counts, NodeState } from '../model/state.ts';

/** What all drawn nodes have. */
export interface Drawn extends Record<string, unknown> {
  selected: boolean;
  faulty: boolean;
}

export interface StepData extends Drawn {
  step: Step;
  state: NodeState | undefined;
  /** The items of the map are shown. */
  opened: boolean;
}

export interface GroupData extends Drawn {
  group: Group;
  counts: Counts;
}

export interface MissingData extends Drawn {
  name: string;
}

export type StepNodeType = Node<StepData, 'step'>;
export type GroupNodeType = Node<GroupData, 'group'>;
export type MissingNodeType = Node<MissingData, 'missing'>;
export type DrawnNode = StepNodeType | GroupNodeType | MissingNodeType;

/** An edge with a label, or one that is marked. */
export interface SpecialEdge {
  id: string;
  path: string;
  tip: string;
  middle: Point;
  label: string | undefined;
  on: Condition | 'exitCodes' | undefined;
  cyclic: boolean;
  faulty: boolean;
}

export interface DrawnEdges {
  /** Joined paths of edges that are near each other. */
  plain: readonly { path: string; tips: string }[];
  special: readonly SpecialEdge[];
}
