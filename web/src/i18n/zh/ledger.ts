import type { Texts } from '../texts.ts';
import type { ledger as english } from '../en/ledger.ts';

export const ledger: Texts<typeof english> = {
  ledger: {
    title: '台账', table: '触发台账', fires: '触发记录', ofJob: '完整台账', attempts: '尝试', attemptOf: '{{job}} 的第 {{n}} 次尝试，计划时间 {{time}}',
    about: '每一次计划的触发及其结果：已运行、已跳过、已错过或丢失。', range: '时间范围', from: '从', to: '到', toHelp: '留空则到现在为止。较晚的时间会同时列出计划中的触发。',
    ranges: {
      all: '到现在为止', hour: '最近一小时', day: '最近 24 小时', week: '最近 7 天', around: '前后一小时', nextHour: '未来一小时', nextDay: '未来 24 小时', nextWeek: '未来 7 天', custom: '自定义起止…',
    },
    nothingFound: '没有符合筛选条件的触发', clearFilter: '显示完整台账', emptyTitle: '台账是空的', emptyText: '每个任务的每一次触发，无论是否运行，都会记在这里。',
  },
};
