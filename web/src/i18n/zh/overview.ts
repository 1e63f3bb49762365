import type { Texts } from '../texts.ts';
import type { overview as english } from '../en/overview.ts';

export const overview: Texts<typeof english> = {
  overview: {
    title: '概览', numbers: '关键数字', all: '查看全部', allOf: '查看全部（{{number}}）', more_one: '还有 1 个', more_other: '还有 {{count}} 个',
    well: '一切正常。', wellText: '最近 24 小时内没有失败、丢失或错过。',
    trouble_one: '最近 24 小时内有 1 个任务出现问题。', trouble_other: '最近 24 小时内有 {{count}} 个任务出现问题。', troubleMore: '最近 24 小时内至少有 {{count}} 个任务出现问题。',
    stands: '目前什么都无法运行。', standsDrained: '没有工作节点领取运行：它们都已排空或正在排空。', standsNobody: '没有存活的工作节点。', standsOther: '没有工作节点领取运行。',
    standsWaiting_one: '有 1 次触发在等待。', standsWaiting_other: '有 {{number}} 次触发在等待。', standsLook: '查看工作节点',
    degraded_one: '集群有 1 处异常，见上方。', degraded_other: '集群有 {{count}} 处异常，见上方。',
    running: '正在运行', runningNone: '当前没有运行。', elapsed: '已运行 {{time}}', on: '节点 {{worker}}', kill: '终止', attempt: '第 {{n}} 次尝试', killRun: '终止 {{job}} 的运行',
    waiting: '等待中及原因', waitingNone: '没有等待中的运行。', due: '{{at}}到期', planned: '计划于{{at}}', gap_one: '1 次触发', gap_other: '{{count}} 次触发', cancelRun: '取消 {{job}} 等待中的运行', noReason: '即将被领取。',
    troubles: '最近 24 小时失败、丢失或错过', troublesNone: '最近 24 小时内没有。', log: '日志', logOf: '{{job}} 最近一次出问题的运行的日志', againOf: '再次运行 {{job}}',
    wellSince: '此后已成功', runsAgain: '正在重新运行', showFires: '查看 {{job}} 的这些触发',
    soon: '未来一小时', soonNone: '未来一小时内没有计划的触发。', soonChart: '未来一小时每分钟的触发', minute: '分钟', fires: '触发', nextFires: '接下来触发的任务',
    trend: '运行情况', trendRange: '时间跨度', day: '24 小时', week: '7 天', chartEnds: '各小时运行与触发的结局', chartDelay: '各小时的启动延迟', hour: '小时', median: '中位数', p95: '95% 不超过', rate: '运行成功率（每次尝试分别计算）：', trendNone: '这段时间内没有结束的运行。', trendAway: '日志存储没有响应；恢复后将显示统计。',
    tones: { ok: '成功', bad: '失败、超时、丢失', warn: '已终止、已拒绝、已错过', idle: '已跳过' },
    workers: '工作节点', workersNone: '没有存活的工作节点。', slotsOf: '槽位 {{used}} / {{slots}}', load: '{{worker}} 的负载', ready: '就绪', draining: '排空中', drained: '已排空', stopping: '正在停止', troubled: '有故障', away: '不在线',
    cluster: '集群', leader: '领导者', noLeader: '暂无，正在选举', logStore: '日志存储', logStoreOk: '正常', logStoreAway: '没有响应', jobs: '任务', jobsPaused: '{{count}} 个已暂停', unreadable: '{{count}} 个无法读取',
    tile: { running: '运行中', waiting: '等待中', failed: '失败或丢失', missed: '错过或拒绝', rate: '运行成功率', soon: '未来一小时触发', slots: '已用槽位', jobs: '任务', day: '24 小时', of: '共 {{n}}' },
    first: '欢迎使用 Carillon', firstText: '还没有任何任务。可以这样开始：', firstViewer: '还没有任何任务。有人定义任务后，这里会显示正在运行、等待中以及出问题的运行。',
    firstCrontab: '导入现有的 crontab', firstCrontabText: '不会改动您的机器；重复导入也不会产生变化。',
    firstJob: '或者在此定义任务', firstJobText: '只需名称和命令；计划可以直接粘贴一行 crontab。', firstNew: '新建任务',
    firstTerminal: '在终端中操作', firstTerminalText: 'cronctl 能做到本控制台能做的一切。用令牌登录一次，即可查看：',
    firstWorkers: '就绪的工作节点：{{count}} 个。', firstNoWorker: '还没有存活的工作节点。仍可定义任务，有节点后即会运行。',
  },
  kill: {
    text: '将请求命令及其启动的所有进程结束（SIGTERM）。{{grace}} 宽限时间过后仍在的会被强制终止（SIGKILL）。此运行会记为由您终止。',
    note: '原因', noteHelp: '与此运行一同显示，并记入台账；可以留空。', confirm: '终止运行', sent: '已通知工作节点终止此运行。',
    title: '终止 {{job}} 的运行？', cancelTitle: '取消 {{job}} 等待中的运行？', cancelText: '它将不会开始，并记为由您终止。', cancel: '取消运行', cancelled: '正在取消此运行。', leave: '保留',
  },
  charts: { showTable: '以表格显示', hideTable: '隐藏表格', summary: '{{name}}：最低 {{min}}，最高 {{max}}，最近 {{last}}', said: '{{said}}。' },
};
