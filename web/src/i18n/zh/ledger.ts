import type { Texts } from '../texts.ts';
import type { ledger as english } from '../en/ledger.ts';

export const ledger: Texts<typeof english> = {
  ledger: {
    terms: '术语', termsOf: '触发、运行、尝试和台账是什么？', termFire: '任务应当运行的一个时刻：由计划产生，或由人触发。', termRun: '命令在某个工作节点上的一次执行。', termAttempt: '重试时，一次触发会有多次运行，每次都是一次尝试。', termLedger: '全部触发及其结果的清单，也包括没有运行的触发及其原因。',
    names: { fire: '触发', run: '运行', attempt: '尝试', ledger: '台账' },
    title: '台账', table: '触发台账', fires: '触发记录', ofJob: '在台账中打开', attempts: '尝试', attemptOf: '{{job}} 的第 {{n}} 次尝试，计划时间 {{time}}',
    about: '仅含符合筛选条件的触发。', group: '分组', anyGroup: '全部分组', became: '结果', showNew_one: '显示 1 条新记录', showNew_other: '显示 {{count}} 条新记录', now: '现在 {{time}}', range: '时间范围', from: '从', to: '到', toHelp: '留空则到现在为止。较晚的时间会同时列出计划中的触发。',
    ranges: {
      all: '到现在为止', hour: '最近一小时', day: '最近 24 小时', week: '最近 7 天', around: '前后一小时', nextHour: '未来一小时', nextDay: '未来 24 小时', nextWeek: '未来 7 天', custom: '自定义…',
    },
    exportNothing: '没有可导出的内容。', nothingFound: '没有符合筛选条件的触发', clearFilter: '显示全部记录', emptyTitle: '台账是空的', emptyText: '运行列表只显示运行过的。台账为任务的每次触发保留且只保留一条记录，写明其结果，无论是否运行。',
    means: {
      succeeded: '已运行；所列尝试次数之后成功。', skipped: '被任务的规则略过：任务已暂停，或上一次运行仍在进行。', missed: '没有节点及时领取，也不需补跑。',
      lost: '已经开始，但所在节点失联：结果未知。', refused: '按其定义，没有节点能够运行它。',
    },
    paused: '等待中，任务已暂停', sets: { trouble: '有问题的', didNotRun: '没有运行' }, gap_one: '1 次触发，{{range}}', gap_other: '{{count}} 次触发，{{range}}', gapAtLeast_one: '至少 1 次触发，{{range}}', gapAtLeast_other: '至少 {{count}} 次触发，{{range}}',
    byDay: '各日触发的结果', byHour: '各小时触发的结果', day: '日期', narrow: '点击以缩小范围',
    export: '导出', exportCsv: '导出为 CSV', exportJson: '导出为 JSON', exported_one: '已导出 1 条记录。', exported_other: '已导出 {{count}} 条记录。', exportCut: '记录超过 {{limit}} 条：请缩小时间范围以导出其余部分。',
  },
};
