import type { FlowGraph } from './model/graph.ts';
import type { NodeStates } from './model/state.ts';

export interface FlowGraphProps {
  graph: FlowGraph;
  /** Name of the drawing, for screen readers. */
  label: string;
  /** How far the nodes are; undefined for a definition alone. */
  states?: NodeStates | undefined;
  /** Id of the highlighted step. */
  selected?: string | undefined;
  /** Ids of steps with faults. */
  faulty?: ReadonlySet<string> | undefined;
  /** Called with the id of a step that is clicked, or opened by Enter. */
  onOpen?: ((id: string) => void) | undefined;
  /** Called on Escape. */
  onClose?: (() => void) | undefined;
}
