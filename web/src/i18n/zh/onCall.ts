import type { Texts } from '../texts.ts';
import type { onCall as english } from '../en/onCall.ts';

export const onCall: Texts<typeof english> = {
  runbook: {
    title: '运行手册', edit: '编辑', add: '添加运行手册', none: '此任务没有说明。可在说明中告诉值班人员该怎么做。', changedSince: '此次运行之后已修改',
  },
  whatItRuns: {
    title: '运行内容', noDefault: '没有默认值', all: '全部设置',
    differ_zero: '所有设置均为内置值。', differ_one: '有 1 项设置与内置值不同，其余均为内置值。', differ_other: '有 {{count}} 项设置与内置值不同，其余均为内置值。',
  },
};
