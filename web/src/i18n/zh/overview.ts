import type { Texts } from '../texts.ts';
import type { overview as english } from '../en/overview.ts';

export const overview: Texts<typeof english> = {
  overview: {
    title: '概览', numbers: '关键数字', all: '查看全部', allOf: '查看全部（{{number}}）', more_one: '还有 1 个', more_other: '还有 {{count}} 个',
    well: '没有问题。', wellText: '最近 24 小时内没有失败、丢失或错过。', wellAcknowledged: '最近 24 小时的失败均已确认。', besideAcknowledged_one: '1 个已确认', besideAcknowledged_other: '{{number}} 个已确认',
    trouble_one: '1 个任务有失败', trouble_other: '{{count}} 个任务有失败', troubleMore: '至少 {{count}} 个任务有失败',
    stands: '目前无法启动任何运行。', standsDrained: '所有工作节点都已排空或正在排空。', standsNoWorker: '没有在线的工作节点。', standsOther: '没有工作节点接受运行。',
    standsWaiting_one: '有 1 次触发在等待。', standsWaiting_other: '有 {{number}} 次触发在等待。', standsLook: '查看工作节点',
    degraded_one: '1 个集群问题', degraded_other: '{{count}} 个集群问题',
    running: '正在运行', runningNone: '当前没有运行。', elapsed: '已运行 {{time}}', onGone: '在已失联的 {{worker}} 上', onGoneText: '该工作节点已不再存活。若未及时恢复，此运行将记为已丢失，并按任务的设置重新运行。', on: '节点 {{worker}}', kill: '终止', attempt: '第 {{n}} 次尝试', killRun: '终止 {{job}} 的运行',
    waiting: '等待中', waitingNone: '没有等待中的运行。', ofPaused_one: '另有 1 次属于已暂停的任务', ofPaused_other: '另有 {{number}} 次属于已暂停的任务', due: '{{at}}到期', planned: '计划于 {{at}}', gap_one: '1 次触发', gap_other: '{{count}} 次触发', cancelRun: '取消 {{job}} 等待中的运行', noReason: '即将启动。',
    waitFor: {
      drained_one: '1 次触发在等待已被排空的 {{worker}}', drained_other: '{{number}} 次触发在等待已被排空的 {{worker}}', stopping_one: '1 次触发在等待正在停止的 {{worker}}', stopping_other: '{{number}} 次触发在等待正在停止的 {{worker}}',
      several_one: '1 次触发在等待不再领取运行的工作节点', several_other: '{{number}} 次触发在等待不再领取运行的工作节点',
    },
    moreJobs_one: '另有 1 个任务', moreJobs_other: '另有 {{count}} 个任务', showNew_one: '显示 1 项新的', showNew_other: '显示 {{count}} 项新的',
    troubles: '最近 24 小时失败、丢失或错过', troublesNone: '最近 24 小时内没有。', log: '日志', logOf: '{{job}} 最近一次未成功的运行的日志', againOf: '再次运行 {{job}}',
    wellSince: '此后已成功', runsAgain: '正在重新运行', showFires: '查看 {{job}} 的这些触发',
    soon: '接下来的触发', soonNone: '未来一小时内没有计划的触发。', soonChart: '未来一小时每分钟的触发', minute: '分钟', fires: '触发', nextFires: '接下来触发的任务',
    trend: '趋势', trendRange: '时间跨度', day: '24 小时', week: '7 天', chartEnds: '各小时的结果', chartDelay: '各小时的启动延迟', hour: '小时', median: '中位数', p95: '95% 不超过', rate: '触发成功率 {{rate}}', retries: '重试：{{runs}} 次尝试中 {{retries}} 次', trendNone: '这段时间内没有结束的触发。', trendAway: '日志存储没有响应；恢复后将显示统计。',
    tones: { ok: '成功', bad: '失败、超时、丢失', warn: '已终止、已拒绝、已错过', idle: '已跳过' },
    workers: '工作节点', workersNone: '没有在线的工作节点。', slotsOf_one: '槽位 {{used}} / {{slots}}', slotsOf_other: '槽位 {{used}} / {{slots}}', load: '{{worker}} 的负载', ready: '就绪', draining: '排空中', drained: '已排空', stopping: '正在停止', troubled: '不接受运行', away: '不在线',
    cluster: '集群', masters: '主控节点', leads: '{{at}} 当选', noLeader: '暂无当选的主控节点', logStore: '日志存储', logStoreOk: '正常', logStoreAway: '没有响应', jobs: '任务', jobsPaused: '{{count}} 个已暂停', unreadable: '{{count}} 个无法读取',
    tile: { running: '运行中', waiting: '等待中', failed: '失败或丢失', missed: '错过或拒绝', rate: '触发成功率', soon: '未来一小时触发', slots: '已用槽位', jobs: '任务', day: '24 小时', open: '未确认，24 小时', acknowledged: '未确认 · {{number}} 已确认', of: '共 {{n}}' },
    first: '欢迎使用 Carillon', firstText: '还没有任何任务。可以这样开始：', firstViewer: '还没有任何任务。有了任务后，这里会显示正在运行、等待中以及失败的运行。',
    firstCrontab: '导入现有的 crontab', firstCrontabText: '不会改动您的机器；重复导入也不会产生变化。',
    firstJob: '或者在此定义任务', firstJobText: '只需名称和命令；计划可以直接粘贴一行 crontab。', firstNew: '新建任务',
    firstTerminal: '在终端中操作', firstTerminalText: 'cronctl 能做到本控制台能做的一切。用令牌登录一次，即可查看：',
    firstWorkers: '就绪的工作节点：{{count}} 个。', firstNoWorker: '还没有在线的工作节点。仍可定义任务，有节点后即会运行。',
  },
  kill: {
    text: '将请求命令及其启动的所有进程结束（SIGTERM）。{{grace}} 宽限时间过后仍在的会被强制终止（SIGKILL）。此运行会记为由您终止。',
    note: '原因', noteHelp: '与此运行一同显示，并记入台账；可以留空。', confirm: '终止运行', sent: '已发送终止请求。',
    how: '终止方式', ask: '终止（TERM）', atOnce: '强制（KILL）', other: '其他…', signal: '信号',
    signals: { INT: 'INT：中断，如同 Ctrl-C', QUIT: 'QUIT：退出，常带转储', HUP: 'HUP：终端已断开', USR1: 'USR1：含义由命令自定', USR2: 'USR2：含义由命令自定' },
    otherText: '将向命令及其启动的所有进程发送 {{signal}}。{{grace}} 宽限时间过后仍在的会被强制终止（SIGKILL）。此运行会记为由您终止。',
    atOnceText: '将立即强制终止命令及其启动的所有进程（SIGKILL），它们来不及清理。此运行会记为由您终止。',
    endGrace: '宽限时间到此为止：仍在的进程将立即被强制终止（SIGKILL），来不及清理。', sendMore: '将再发送 {{signal}}；{{grace}} 的宽限时间不会因此延长。',
    cleanUpOpen: '终止清理…', cleanUpTitle: '同时终止 {{job}} 的清理？', cleanUpConfirm: '终止清理', cleanUpNoteHelp: '与此运行一同显示；可以留空。',
    cleanUpText: '正在运行的清理步骤将被终止，其余清理步骤不再开始。它们本应清除的内容（例如机器或文件）可能会残留。',
    title: '终止 {{job}} 的运行？', cancelTitle: '取消 {{job}} 等待中的运行？', cancelText: '它将不会开始，并记为由您终止。', cancel: '取消运行', cancelled: '正在取消此运行。', leave: '返回',
  },
  failures: {
    selection: '所选失败', selected_one: '已选 {{count}} 个失败', selected_other: '已选 {{count}} 个失败', most: '一次最多 {{count}} 个。', select: '选择 {{job}}，计划于 {{time}}', selectAll: '选择当前列出的全部失败', selectJob: '选择 {{job}} 的失败',
    open: '未确认', by: '{{who}} 于 {{at}}确认', undo: '撤销', note: '备注（可选）', results: '结果', did: '完成', refused_one: '{{count}} 个被拒绝：', refused_other: '{{count}} 个被拒绝：',
    ack: {
      verb: '确认…', title_one: '确认此失败？', title_other: '确认 {{count}} 个失败？', text: '已确认的失败不再需要关注，总览不再列出。台账中的结果不变；如果之后的尝试仍然失败，会再次需要关注。',
      note: '与该失败一同显示，例如工单编号。', confirm_one: '确认', confirm_other: '确认 {{count}} 个', done_one: '已确认 {{count}} 个失败。', done_other: '已确认 {{count}} 个失败。', partly: '部分失败未能确认',
    },
    rerun: {
      jobs: '将再次运行的任务', asks: '运行前须确认', more_one: '还有 1 个', more_other: '还有 {{count}} 个', verb: '重新运行…', title_one: '重新运行此失败？', title_other: '重新运行 {{count}} 个失败？', text: '立即进行各自的下一次尝试，使用最后一次尝试的参数。台账中每个触发仍为一条。',
      note: '与新的运行一同显示。', confirm_one: '重新运行', confirm_other: '重新运行 {{count}} 个', done_one: '已请求 {{count}} 次运行。', done_other: '已请求 {{count}} 次运行。', partly: '部分运行未能请求',
    },
  },
  ending: { asked: '正在结束：{{who}} 于 {{when}} 发送了 {{signal}}。', replaced: '正在结束：之后的触发将取代它。', forced: '清理已被强制结束：{{who}}，{{when}}。', forcedBy: '清理已被强制结束：{{who}}。' },
  charts: { options: '图表“{{name}}”的选项', help: '关于{{name}}', showTable: '以表格显示', hideTable: '隐藏表格', summary: '{{name}}：最低 {{min}}，最高 {{max}}，最近 {{last}}', said: '{{said}}。' },
};
