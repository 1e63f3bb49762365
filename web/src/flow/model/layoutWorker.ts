// Computes layouts of large graphs beside the page.

import type { Layout, LayoutInput } from './geometry.ts';
import { layoutOf } from './layout.ts';

export interface Order {
  input: LayoutInput;
}

export interface Answer {
  layout: Layout;
}

const scope = self as unknown as { onmessage: (event: MessageEvent<Order>) => void; postMessage: (answer: Answer) => void };
scope.onmessage = ({ data: { input } }) => scope.postMessage({ layout: layoutOf(input) });
