import type { Texts } from '../texts.ts';
import type { workers as english } from '../en/workers.ts';

export const workers: Texts<typeof english> = {
  workers: {
    toHealth: '检查集群健康状况',
    title: '工作节点', table: '工作节点列表', name: '工作节点', version: '版本', load: '已用槽位', started: '启动时间', state: '状态', ready: '就绪', draining: '排空中',
    trouble: '不接受运行', loadOf_one: '{{slots}} 个槽位中已用 {{used}} 个', loadOf_other: '{{slots}} 个槽位中已用 {{used}} 个', running_one: '1 个运行', running_other: '{{count}} 个运行', weight: '权重', skew: '时钟',
    skewHelp: '其时钟比集群快多少。', stopping: '停止中', away: '不在线', awayHelp: '它没有存活，只知道为它所做的设置。', setBy: '最近由 {{who}} 设置，{{when}}',
    drain: '排空', undrain: '取消排空', settings: '修改设置…', drainTitle: '排空 {{name}}？', undrainTitle: '取消排空 {{name}}？',
    drainText_zero: '它不再领取新的运行。',
    drainOthers: '其任务由其他工作节点运行；只能由它运行的任务会等待，超过期限则记为已错过。',
    drainOnly: '没有其他工作节点接受运行：在它恢复或另有节点启动之前，不会启动任何运行。',
    drainText_one: '它会完成手上的运行，不再领取新的运行。',
    drainText_other: '它会完成手上的 {{count}} 个运行，不再领取新的运行。',
    drainNoteHelp: '原因，与工作节点一起显示。', undrainText: '它会立即恢复领取触发，安排在它上面的任务也会回来。', drained: '{{name}} 不再领取新的运行。', undrained: '{{name}} 已恢复领取运行。',
    settingsTitle: '{{name}} 的设置', slots: '槽位', slotsHelp: '同时可运行多少。留空则按其启动设置。', weightHelp: '按权重选择节点的任务中它所占的份额。留空为 1。',
    ownLabels: '使用其配置的标签', ownLabelsHelp: '关闭后可在此设置标签来代替。', labelNameOf: '标签 {{n}} 的名称', labelValueOf: '标签 {{n}} 的值', labelHint: '有任务要求标签 {{label}}。请选择一个工作节点：其设置中已填好这些标签，保存即可。', labelAdd: '添加标签', labelRemove: '删除标签 {{n}}',
    saved: '{{name}} 的设置已保存。', faults: { number: '须为整数。', twice: '同一标签出现了两次。' }, emptyTitle: '没有已连接的工作节点', emptyText: '在有工作节点之前，任务会一直等待。可在任何能访问 etcd 的机器上启动一个：',
    runsOf: '{{name}} 上的运行', runsNothing: '此刻没有运行。', daemons: '常驻任务', daemonsOf: '{{name}} 上的常驻任务', replicas_one: '1 个副本', replicas_other: '{{count}} 个副本', daemonSlots_one: '常驻任务占 1 个槽位', daemonSlots_other: '常驻任务占 {{count}} 个槽位', otherRuns: '其他运行', since: '已 {{time}}', killRun: '终止 {{job}} 的运行', heartbeat: '最近联系', oldest: '最旧',
    oldestHelp: '其他节点更新：请升级它。', isDrained: '已排空', left_one: '还剩 1 个运行。', left_other: '还剩 {{count}} 个运行。', nothingLeft: '没有剩余运行，可以停止它。',
    alive_one: '1 个工作节点', alive_other: '{{count}} 个工作节点', slotsUsed_one: '{{slots}} 个槽位中已用 {{used}} 个', slotsUsed_other: '{{slots}} 个槽位中已用 {{used}} 个', areDraining_one: '1 个排空中', areDraining_other: '{{count}} 个排空中', areDrained_one: '1 个已排空', areDrained_other: '{{count}} 个已排空', areStopping_one: '1 个正在停止', areStopping_other: '{{count}} 个正在停止',
    areTroubled_one: '1 个不接受运行', areTroubled_other: '{{count}} 个不接受运行', areAway_one: '1 个不在线', areAway_other: '{{count}} 个不在线', masters: '主控节点', mastersText: '主控节点提供本控制台和 API。当选的主控节点还负责清理历史、封存审计和发送通知。运行任务不依赖它们。', master: '主控节点', leads: '当选', standsBy: '待命', answers: '当前连接',
    gone: '24 小时内离开的工作节点', goneText: '它们有过运行，但已不再存活：已停止，或已失联。', goneRuns_one: '1 个运行', goneRuns_other: '{{number}} 个运行', goneLost_one: '其中 1 个已丢失', goneLost_other: '其中 {{count}} 个已丢失', goneMore_one: '另有 1 个', goneMore_other: '另有 {{count}} 个',
    program: '程序', functions: '函数', programOf: '程序 {{app}}', programBuild: '程序 {{app}}，构建 {{build}}', functionCount_one: '1 个函数', functionCount_other: '{{count}} 个函数',
    about: '概况',
    host: '主机', process: '进程 {{pid}}', id: 'ID', now: '正在运行', onTimeline: '在时间线上查看', unknown: '未知的工作节点', itsRuns: '它的运行', unknownText: '它没有存活，也没有为它做过设置。它的运行仍在运行列表中。', all: '全部工作节点',
    loadTitle: '负载', loadRange: '回溯时长', ranges: { '6h': '6 小时', '24h': '24 小时', '3d': '3 天' }, dayRuns: '24 小时运行数', busy: '同时运行数', atOnce: '最多', endings: '已结束的运行', otherwise: '其他结果', time: '时间',
    truncated: '只统计最新的 2,000 个运行，自 {{time}} 起。',
  },
};
