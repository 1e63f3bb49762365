import type { Texts } from '../texts.ts';
import type { overview as english } from '../en/overview.ts';

export const overview: Texts<typeof english> = {
  overview: { title: '概览' },
  charts: { showTable: '以表格显示', hideTable: '隐藏表格', summary: '{{name}}：最低 {{min}}，最高 {{max}}，最近 {{last}}' },
  lastDay: {
    title: '概览', now: '当前', day: '最近 24 小时', chart: '最近 24 小时各小时触发的结果；{{rate}} 的运行成功',
  },
};
