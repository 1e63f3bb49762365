import type { Texts } from '../texts.ts';
import type { access as english } from '../en/access.ts';

export const access: Texts<typeof english> = {
  access: { title: '访问' },
};
