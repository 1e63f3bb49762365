import type { Texts } from '../texts.ts';
import type { overview as english } from '../en/overview.ts';

export const overview: Texts<typeof english> = {
  overview: { title: '概览' },
  lastDay: {
    title: '概览', now: '当前', day: '最近 24 小时', chart: '最近 24 小时各小时触发的结果；{{rate}} 的运行成功',
  },
};
