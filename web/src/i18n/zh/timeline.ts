import type { Texts } from '../texts.ts';
import type { timeline as english } from '../en/timeline.ts';

export const timeline: Texts<typeof english> = {
  timeline: {
    title: '时间线', view: '显示内容', views: { runs: '运行与触发', forecast: '预测' }, filterGroup: '分组', anyGroup: '全部分组',
    length: '显示的时长', presets: { '1h': '1 小时', '6h': '6 小时', '24h': '24 小时', '3d': '3 天' }, moves: '沿时间移动', earlier: '更早', later: '更晚', toNow: '现在',
    toNowKey: '回到现在（按键 t）', closer: '放大', closerKey: '放大（按键 +）', wider: '缩小', widerKey: '缩小（按键 −）', lanesBy: '泳道划分', byJob: '任务', byWorker: '工作节点',
    chart: '运行与计划触发的时间图', lanes: '泳道', noWorker: '未在工作节点上', nothing: '这段时间内什么也没有。', perMinute: '每分钟触发数', upTo: '最高 {{count}}',
    fires_one: '1 次触发', fires_other: '{{count}} 次触发', inMinute: '{{time}} 这一分钟：{{fires}}', pileUp: '扎堆：点击查看细节', pileUpThen: '扎堆',
    planned: '计划时间', started: '开始', ended: '结束', took: '耗时', runningFor: '已运行', expectedEnd: '预计结束', usually: '通常耗时', usual: '{{p50}}，95% 在 {{p95}} 以内', attempt: '尝试',
    others_one: '此处还有 1 个，放大可见。', others_other: '此处还有 {{count}} 个，放大可见。', openRun: '打开该运行', openLedger: '打开该任务的台账',
    enterRun: '按 Enter 打开该运行。', enterLedger: '按 Enter 打开该任务的台账。', clickRun: '点击打开该运行。', clickLedger: '点击打开该任务的台账。',
    clickZoom: '点击放大。', legend: '图例', wentWrong: '失败、超时、丢失', neverBegan: '已错过、已拒绝',
    keys: '拖动可移动，Ctrl 加滚轮可缩放；+ 与 − 缩放，t 回到现在。在图中，← → 沿时间移动，↑ ↓ 切换泳道，Shift 加 ← → 切换条目，Enter 打开。',
    about: '线的左侧是运行，右侧是计划中的触发。计划触发的长度取自其任务平常的耗时。',
    truncated: '只显示这段时间内最新的 2,000 个运行，自 {{time}} 起。可按任务或分组缩小范围以查看全部。',
    plannedTruncated: '计划触发只显示到 {{time}}，其后数量过多。可按任务或分组缩小范围。',
    table: '运行与计划触发', tableNearest: '运行与计划触发，距现在最近的 {{count}} 条', time: '时间', when: '时段', ahead: '将来', past: '过去', status: '状态',
    emptyTitle: '没有运行过的，也没有计划中的', emptyText: '“现在”线左侧显示运行，右侧显示任务计划中的触发。请为任务设置计划，或手动运行一个。',
    heat: {
      title: '每分钟触发', zone: '按您的时区 {{zone}}', label: '{{day}} 的计划触发，每格一分钟', piled: '扎堆', over: '已过去或未统计', days: '日期',
      dayFires_one: '{{fires}} 次触发，每分钟最多 {{peak}} 次', dayFires_other: '{{fires}} 次触发，每分钟最多 {{peak}} 次', clocksChange: '当天有夏令时切换', choose: '请指向某一分钟，或用方向键移动。', chooseTouch: '请点按某一分钟。', unknown: '{{at}} 已过去，或超出预测范围。',
      fires_one: '{{at}}：1 次触发', fires_other: '{{at}}：{{count}} 次触发', isPileUp: '扎堆', crowded_one: '同一秒需要 1 个槽位，共 {{slots}}', crowded_other: '同一秒需要 {{count}} 个槽位，共 {{slots}}', which: '查看触发', hour: '小时', firesName: '触发数', fullest: '最多的一分钟', inIt: '其中触发数', table: '按小时的计划触发',
      sum_one: '未来 7 天内，{{jobs}} 个任务将触发 {{fires}} 次。', sum_other: '未来 7 天内，{{jobs}} 个任务将触发 {{fires}} 次。', paused_one: '未计入 1 个已暂停的任务。', paused_other: '未计入 {{count}} 个已暂停的任务。',
      left_one: '有 1 个任务因数量过多未统计，请按分组缩小范围。', left_other: '有 {{count}} 个任务因数量过多未统计，请按分组缩小范围。',
      keys: '方向键按分钟和小时移动，Home 与 End 到当天首尾，Enter 查看这一分钟的触发。',
      emptyTitle: '没有计划中的触发', emptyText: '任务有了计划之后，这里会逐分钟统计未来几天的触发。',
      allPaused_one: '唯一有计划的任务已暂停。', allPaused_other: '有计划的 {{count}} 个任务都已暂停。', allGroups: '显示全部分组',
    },
    piles: {
      title: '扎堆', none: '没有扎堆：没有哪一秒的触发超过工作节点的槽位数，也没有哪一分钟的触发既异常多、又超过槽位数。', fires_one: '1 次触发', fires_other: '{{count}} 次触发', of_one: '1 个任务：', of_other: '{{count}} 个任务：',
      more_one: '另有 1 个', more_other: '另有 {{count}} 个', one: '单个任务触发如此频繁：是有意为之吗？', fewer: '只显示最大的', all: '显示全部 {{count}} 处',
      every: '共 {{count}} 次，首次', everyMore: '{{count}} 次以上，首次', slots_one: '1 个槽位', slots_other: '{{count}} 个槽位', second: '{{at}} 秒有 {{fires}}，共 {{slots}}', secondNeeds: '{{at}} 秒有 {{fires}}，需要 {{need}}，共 {{slots}}',
      crowded_one: '有 1 分钟，同一秒开始的触发多于工作节点的槽位。', crowded_other: '有 {{minutes}} 分钟，同一秒开始的触发多于工作节点的槽位。', wait: '其中一些要等待槽位。使用秒字段（“20 * * * * * *”）可让任务各用自己的秒。',
      advice: '这些分钟的触发多于工作节点的槽位。在计划中使用 H，可让每个任务各用自己的一分钟（用“H 2 * * *”代替“0 2 * * *”）；“抖动”则会把每次触发稍微推迟。',
    },
    dst: {
      title: '夏令时切换', none: '未来 14 天内，任务所用的时区都没有夏令时切换。', gap: '时钟从 {{before}} 拨快到 {{after}}：其间的时刻不存在。',
      overlap: '时钟从 {{before}} 拨回到 {{after}}：其间的时刻出现两次。', noJob: '没有任务计划在这些时刻。', jobs_one: '涉及 1 个任务：{{fates}}。', jobs_other: '涉及 {{count}} 个任务：{{fates}}。',
      moved_one: '1 个在跳过之后触发', moved_other: '{{count}} 个在跳过之后触发', skipped_one: '1 个不触发', skipped_other: '{{count}} 个不触发', twice_one: '1 个触发两次', twice_other: '{{count}} 个触发两次',
      once_one: '1 个只触发一次', once_other: '{{count}} 个只触发一次',
    },
  },
};
