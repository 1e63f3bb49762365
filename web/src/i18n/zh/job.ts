import { onCall } from './onCall.ts';
import type { Texts } from '../texts.ts';
import type { job as english } from '../en/job.ts';

export const job: Texts<typeof english> = {
  ...onCall,
  replicas: {
    title: '副本', table: '副本列表', help: '常驻任务应有的运行。结束的副本会再次启动；若总是很快结束，等待时间逐渐加长。', replica: '副本', status: '状态', since: '开始于', shortRuns_one: '此前 1 次运行过短', shortRuns_other: '此前连续 {{count}} 次运行过短',
    handover: '{{worker}} 正在移交副本 {{replica}}（{{reason}}）。', moves: { update: '任务已更改', restart: '任务正在重启', drain: '工作节点正在排空', balance: '平衡各工作节点', ineligible: '该工作节点不能再运行此任务' },
    running_one: '{{count}} 个副本中 {{running}} 个在运行。', running_other: '{{count}} 个副本中 {{running}} 个在运行。', runningOnAll_one: '{{count}} 个副本在运行；应在每个符合条件的工作节点上各有一个。', runningOnAll_other: '{{count}} 个副本在运行；应在每个符合条件的工作节点上各有一个。', restart: '逐个重启',
  },
  after: {
    title: '前置与后续', help: '自上次因此运行以来，下列任务都成功后，此任务运行一次。等待运行期间的多次成功合并计入下一次。',
    parents: '前置任务', children: '在此任务之后运行的任务', inFlows: '所在流程', runBy: '有步骤运行此任务的流程', waitedBy: '有步骤等待此任务的流程', missing: '没有此任务', waits: '等待其成功', succeeded: '自上次运行以来已成功', last: '最近成功 {{at}}',
  },
  job: {
    hidden: '您在此任务所属的分组中没有角色，因此不显示它运行的内容。',
    tabs: '本页内容', tab: { runs: '运行', graph: '流程图', ledger: '台账', backfills: '回填', statistics: '统计', versions: '版本', definition: '定义' },
    next: '下次触发', inGroup: '分组', more: '更多操作', duplicate: '复制为新任务…', pausedBy: '由 {{who}} 暂停', going: '正在运行', moreGoing_one: '另有 1 个', moreGoing_other: '另有 {{count}} 个', since: '已运行 {{time}}', on: '在 {{worker}} 上', triggeredBy: '由 {{who}} 触发',
    asFile: '文件形式', format: '格式', fields: '字段', elsewhere: '在别处创建同样的任务', byCronctl: '用 YAML 文件和 cronctl：', byCurl: '用 JSON 文件和 curl，令牌在 $TOKEN 中：', runByCronctl: '在终端运行它并查看输出：',
    deleted: '此任务已被删除。', deletedText: '它的运行记录和定义的变更在保留期内仍可查看。',
    nextFires: '后续触发', runs: '运行记录', type: '类型', with: '设置', command: '命令', program: '程序', shell: 'Shell', directory: '工作目录', user: '用户',
    environment: '环境变量', stdin: '标准输入', timeout: '超时', killGrace: '宽限时间', outputMax: '保留的输出',
    group: '分组', description: '说明', timezone: '时区', labels: '标签', params: '参数', exitCodes: '视为成功的退出码', noTimeout: '无',
    version: '版本 {{version}}', updated: '修改时间', created: '创建时间', by: '{{when}}，由 {{who}} 操作', scheduleOf: '计划 {{n}}', noScheduleAfter: '没有计划：此任务在其他任务之后运行。', noSchedule: '此任务没有计划，仅在触发时运行。',
    yourZone: '您的时间，{{zone}}', notFound: '没有名为 {{name}} 的任务。', allJobs: '全部任务', noRuns: '此任务尚未运行。',
    noRunsText: '首次运行会在下次触发时出现，或点击“立即运行”马上开始。', allRuns: '全部运行记录',
  },
  diff: {
    same: '没有差异。', before: '原行号', after: '新行号', line: '内容', isGone: '删除：', isCome: '新增：',
    come_one: '+{{n}} 行', come_other: '+{{n}} 行', gone_one: '−{{n}} 行', gone_other: '−{{n}} 行', skipped_one: '{{n}} 行相同', skipped_other: '{{n}} 行相同',
  },
  grid: {
    label: '任务的运行：每列为一次触发，每行为一次尝试', planned: '计划时间', longest: '其中最长的', view: '显示方式', grid: '网格', list: '列表',
    anyCause: '任意起因', older: '加载更早的运行', all: '历史到此为止。', about: '列：触发，最新的在右侧。行：尝试。柱：触发耗时，含重试及其间的等待。', fireDuration: '触发耗时，含重试', runDuration: '本次运行耗时', attemptOf: '第 {{n}} 次尝试，共 {{of}} 次',
  },
  versions: {
    title: '版本', none: '没有保留任何版本。', older: '更早的版本', revision: 'etcd 修订号 {{revision}}', number: '版本 {{version}}', current: '当前版本', from: '来自 {{address}}',
    verb: { create: '创建', replace: '修改', patch: '部分修改', rollback: '回滚', pause: '暂停', resume: '恢复', inherit: '随默认设置变更', delete: '删除' },
    diffOf: '从版本 {{from}} 到版本 {{to}}', with: '将版本 {{version}} 与以下版本比较', fields: '不同的字段：', only: '没有可以比较的其他版本。',
    rollback: '回滚到版本 {{version}}', rollbackTitle: '将 {{name}} 回滚到版本 {{version}}？', willChange: '变更',
    rollbackText: '任务的当前定义将发生以下变更，并成为一个新版本，不会丢失任何内容。是否暂停保持不变，正在进行的运行保持其版本。',
    note: '原因', noteHelp: '显示在版本和审计记录中。', rolledBack: '{{name}} 已恢复为版本 {{version}} 的内容，即版本 {{now}}。',
    stale: '在此期间任务已被修改', staleText: '尚未写入任何内容。现在显示的是当前版本 {{version}} 将要发生的变化。',
    restore: '按版本 {{version}} 重新创建', restoreTitle: '按版本 {{version}} 重新创建 {{name}}？',
    restoreText: '这是一个沿用当时定义的新任务，从现在起按计划触发。它的历史与已删除的任务分开。',
    restorePaused: '这是一个沿用当时定义的新任务，并与当时一样处于暂停状态。它的历史与已删除的任务分开。',
  },
  overlap: {
    skip: '跳过本次触发', queue: '让一次触发等待其结束', replace: '终止它，运行新的触发', allow: '同时运行',
  },
  placement: {
    title: '符合条件的工作节点', noWorker: '没有在线的工作节点。', may: '符合条件的工作节点，按顺序', first: '由它运行', stands: '后备', others: '不符合条件',
    more_one: '另有 1 个', more_other: '另有 {{count}} 个',
  },
  policy: {
    title: '策略', span: '起止时间', between: '从 {{from}} 到 {{to}} 触发。', from: '从 {{from}} 起触发。', until: '触发至 {{to}}。',
    jitter: '抖动', jitterText: '每次触发比计划最多推迟 {{jitter}}，同一次触发的推迟始终相同。',
    overlap: '重叠',
    overlapText: {
      skip: '上次运行未结束时到来的触发会被跳过。', queue: '一次触发等待上次运行结束，其余被跳过。',
      replace: '触发会终止仍在进行的上次运行，然后运行。', allow: '触发会与未结束的运行同时运行。',
    },
    deadline: '启动期限', deadlineText: '触发最多可以晚 {{deadline}}开始。',
    catchUp: '补跑',
    catchUpText: {
      none: '停机之后，最后一次触发若未超过启动期限则仍会运行，其余记为已错过。', latest: '停机之后，最后一次触发若计划于最近 {{window}}之内则仍会运行，其余记为已错过。',
      all: '停机之后，计划于最近 {{window}}之内的触发依次运行，最多为最后 {{max}} 次，其余记为已错过。',
    },
    retry: '重试', noRetry: '失败的运行不会重试。',
    retryText_one: '失败的运行会在 {{backoff}}后重试一次。', retryText_other: '失败的运行最多重试 {{count}} 次：首次间隔 {{backoff}}，之后每次加倍，最长 {{maxBackoff}}。',
    retryCodes: '仅限退出码 {{codes}}。', retryFlow: '已成功的步骤会保留。', retryElsewhere: '如有其他工作节点，则在其上重试。', retryAnywhere: '在排在首位的工作节点上重试，可以是同一个。',
    lost: '运行丢失',
    lostText: {
      rerun: '工作节点失联达 {{after}}后，其运行记为丢失，并在其他工作节点上重跑。', abandon: '工作节点失联达 {{after}}后，其运行记为丢失，不再重跑。',
      detach: '工作节点失联达 {{after}}后，其运行记为丢失，但命令会继续执行：同一任务的两个运行可能重叠。',
    },
    placement: '节点选择', pinned: '仅限 {{workers}}。', selector: '仅限标签匹配 {{selector}} 的工作节点。',
    strategyText: {
      hash: '只要存活，始终由同一个工作节点运行。', least: '由运行数最少的工作节点运行。', weight: '始终由同一个工作节点运行，各节点按权重分担任务。', any: '由最快领取的工作节点运行。',
    },
    pool: '资源池', poolText_one: '每次运行占用资源池 {{pool}} 的 1 个槽位，没有空闲时等待。', poolText_other: '每次运行占用资源池 {{pool}} 的 {{count}} 个槽位，不足时等待。',
    scarce: '槽位', scarceText_one: '每次运行占用工作节点的 1 个槽位。槽位紧张时优先级为 {{priority}}，9 最优先。',
    scarceText_other: '每次运行占用工作节点的 {{count}} 个槽位。槽位紧张时优先级为 {{priority}}，9 最优先。',
    autoPause: '失败后暂停', autoPauseText_one: '一次触发未成功后暂停。', autoPauseText_other: '连续 {{count}} 次触发未成功后暂停。',
    notify: '通知', noNotify: '无', notifyText: '以下情况通知 {{to}}：{{events}}。', notifyAfter: '未确认时的升级：{{steps}}。', notifyStep: '持续 {{time}} 后通知 {{to}}', notifyQuiet: '{{from}} 至 {{to}}（{{zone}}）的通知汇总后发送。', notifyUrgent: '{{from}} 至 {{to}}（{{zone}}）的输出汇总后发送。',
    event: { failed: '最终失败', missed: '已错过', lost: '随工作节点丢失', late: '延迟或过慢', recovered: '恢复正常', approval: '等待审批', paused: '失败后暂停', output: '有输出', step_failed: '步骤失败', skipped: '跳过触发' },
    retention: '历史', retentionText: '运行及其输出保留 {{age}}；最后一次运行始终保留。',
    retentionRuns_one: '只保留最后一次运行及其输出。', retentionRuns_other: '保留最后 {{count}} 次运行及其输出，最长 {{age}}；最后一次运行始终保留。',
  },
  statistics: {
    title: '统计', range: '时间范围', ranges: { day: '24 小时', week: '7 天', month: '30 天', quarter: '90 天', year: '一年' }, nothing: '此期间没有触发。',
    successRate: '成功率', fires: '触发次数', retries: '重试', skipped: '跳过的触发', ofAttempts: '{{runs}} 次尝试中 {{retries}} 次', attempts: '尝试次数', attemptRate: '成功率（按尝试计）', p50: '运行耗时中位数', p95: '95% 运行耗时不超过', p99: '99% 运行耗时不超过', longest: '最长运行耗时', delay95: '95% 启动延迟不超过',
    endedByDay: '每日的结果', endedByHour: '每小时的结果', duration: '单次运行的耗时（仅成功）', delay: '启动延迟',
    byWorker: '按工作节点', calendar: '日历', outcomes: { ok: '全部成功', some: '部分失败', most: '多数失败', idle: '没有完成的运行' }, rate: '成功率', lines: { p50: '中位数', p95: '95% 不超过', max: '最长' }, day: '日期', hour: '小时', about: '日期按 {{zone}} 计。每次触发只计一次，以最后一次尝试为准。被终止的触发既不算成功也不算失败；耗时仅统计成功的运行。',
  },
};
