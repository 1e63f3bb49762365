import type { Texts } from '../texts.ts';
import type { timeline as english } from '../en/timeline.ts';

export const timeline: Texts<typeof english> = {
  timeline: { title: '时间线' },
};
