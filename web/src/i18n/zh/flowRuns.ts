import type { Texts } from '../texts.ts';
import type { flowRuns as english } from '../en/flowRuns.ts';

export const flowRuns: Texts<typeof english> = {
  flowGrid: { title: '最近的运行', help: '行是步骤，列是最近的运行，最新的在右侧，柱高表示运行时长。单元格在旁边打开该次运行中的步骤。按列表展开的步骤以及大型流程的各层是折叠的：单元格显示已成功的节点数。带边框的单元格保留自之前的运行。', step: '步骤', empty: '还没有运行。', none: '不在此次运行中', gone: '定义中已没有此步骤。', legend: '状态', onlyFailed_one: '仅显示 {{count}} 个有失败的步骤', onlyFailed_other: '仅显示 {{count}} 个有失败的步骤' },
  flowTimeline: { onlyLongest: '仅关键路径', waits: '已等待 {{time}}', empty: '还没有步骤开始。', began: '{{after}} 后开始', waited: '就绪后等待 {{time}}', longest: '关键路径', longestHelp: '决定此次运行时长的步骤链：每个步骤最后等待的是前一个步骤。' },
  nodeDrawer: {
    since: '等待始于', flowRun: '流程运行', waited: '等待时长', root: '打开步骤 {{step}}', question: '问题', job: '任务', fires: '等待', after: '前置步骤', rule: '规则', cleanUp: '清理', kind: '类型', when: '条件', kept: '保留自{{run}}', earlierRun: '之前的运行', lastRun: '在最近的运行中显示', timesOut: '超时于', waitsFor: '正在等待：', filter: '按状态筛选', items: '各项', item: '第 {{item}} 项', itemValue: '第 {{item}} 项：{{value}}', keptShort: '保留', accepted: '由 {{who}} 接受，{{at}}。', acceptedShort: '已接受',
    more_one: '另有 {{count}} 个', more_other: '另有 {{count}} 个',
  },
  nodeTable: { step: '步骤', worker: '工作节点', status: '状态', why: '原因', took: '时长' },
  flowRun: { title: '步骤', workers: '工作节点', workersShown: '这是同一次触发在多个工作节点上的运行。每一行打开在该节点上的运行。', onWorker: '在工作节点 {{worker}} 上，属于{{run}}', runsOnWorkers: '在各工作节点上的运行', views: '步骤的显示方式', graph: '流程图', table: '列表', timeline: '时间线', output: '步骤的输出', stepOf: '{{run}}的步骤 {{step}}', itemOf: '{{run}}的步骤 {{step}} 的第 {{item}} 项', runOf: '{{flow}} 的运行', ofBackfill: '由{{backfill}}开始', backfill: '一次回填', runsOfSteps: '其步骤的运行',
    listed: '仅显示{{run}}中步骤的运行', oneRun: '一次流程运行', pause: '暂停', resume: '恢复', paused: '此流程运行已暂停：不再开始新的步骤。正在运行的步骤会继续。', statisticsOf: '统计对象', wholeFlow: '整个流程', nested: '此步骤运行一个流程。', openNested: '打开其流程运行', openRun: '打开其运行', otherDefinition: '此次运行的定义不可用：步骤不带流程图显示。' },
  rerun: {
    outerHelp: '步骤和工作节点的运行通过其所属的运行重跑。',
    open: '重跑…', verb: '重跑', title: '重跑 {{name}}', scope: '重跑哪些', steps: '步骤', noStep: '没有此步骤', definition: '定义', preview: '预览', loading: '正在加载预览…', pickSteps: '请至少选择一个步骤。',
    scopes: { failed: '失败的步骤及其后的所有步骤', accepted: '只运行已接受步骤之后的步骤', from: '所选步骤及其后的所有步骤', only: '仅所选步骤', all: '所有步骤' },
    scopeHelp: {
      failed: '对按列表展开的步骤，只重跑失败的项。其余全部保留。', accepted: '其他失败保持不变。', from: '所选的步骤，以及在其之后的每个步骤。', only: '后面的步骤保留其结果，即使所选步骤的结果有变。', all: '什么都不保留。',
    },
    definitions: { current: '现在的定义', same: '之前运行时的定义' }, definitionHelp: { current: '修正会生效。', same: '忽略此后的更改。' },
    runs_one: '将运行 {{count}} 个节点：', runs_other: '将运行 {{count}} 个节点：', keeps_one: '保留 {{count}} 个步骤：', keeps_other: '保留 {{count}} 个步骤：', keepsNone: '不保留任何步骤。', cleanUp: '{{step}}（清理）', goesOn: '{{step}} 运行一个流程，将从其失败处继续。将运行的节点：{{runs}}；保留的步骤：{{keeps}}。', restart: '让失败步骤的流程从头开始', restartHelp: '否则保留其中已成功的步骤。', adds_one: '新增 {{count}} 个步骤：', adds_other: '新增 {{count}} 个步骤：', skips_one: '跳过 {{count}} 个清理步骤：', skips_other: '跳过 {{count}} 个清理步骤：', started: '已请求重跑。',
    workers: {
      failed: '失败的工作节点', all: '所有工作节点', help: { failed: '其余工作节点保留其结果。', all: '在届时符合条件的工作节点上运行。' },
      runs_one: '将在 {{count}} 个工作节点上重跑：', runs_other: '将在 {{count}} 个工作节点上重跑：', confirm_one: '在 {{count}} 个工作节点上重跑', confirm_other: '在 {{count}} 个工作节点上重跑',
    },
    accepts: '接受失败', acceptsHelp: '这些步骤保持其状态，从此视为成功，依赖它们的步骤会运行。', accepted_one: '接受 {{count}} 个失败：', accepted_other: '接受 {{count}} 个失败：', accept: '接受', acceptOpen: '接受…', acceptItem: '接受：第 {{item}} 项', acceptTitle: '接受 {{step}} 的失败？', acceptText: '此步骤保持其状态，从此视为成功：其后的步骤会运行。在它们中的任何一个开始之前可以这样做。', acceptItemText: '此项保持其状态，从此视为成功。在其后的步骤开始之前可以这样做。', acceptNote: '为何视为成功，例如：已手工完成。显示在步骤和审计中。', acceptDone: '已接受该失败。',
    retry: '重新开始', retryItem: '重新开始：第 {{item}} 项', retryTitle: '重新开始 {{step}}？', retryText: '此步骤在此次流程运行中重新开始。在其后的步骤开始之前可以这样做。', nothing: '没有要运行的。', item: '{{step}} 的第 {{item}} 项', confirm_one: '重跑 {{count}} 个节点', confirm_other: '重跑 {{count}} 个节点',
  },
  backfill: {
    list: '回填', help: '回填会运行任务过去的触发：已错过的，或失败的。它与日程并行，日程优先。', open: '新建回填…', oneAtATime: '一个任务同时只能有一个回填。', none: '还没有回填。', started: '回填已开始。',
    states: { planned: '计划中', running: '运行中', paused: '已暂停', ending: '正在结束', ended: '已结束' }, dates_one: '{{count}} 个日期', dates_other: '{{count}} 个日期', figure: '{{count}} 个{{status}}',
    cancel: '取消…', cancelTitle: '取消此回填？', cancelText: '不再开始新的日期。正在运行的日期会继续。', cancelConfirm: '取消回填', keep: '保留', alsoKill: '同时终止已开始的日期的运行',
    verb: '回填', title: '回填 {{name}}', text: '为过去的计划时间运行此任务；与之并行的日程优先。时间为你的时区（{{zone}}）。', from: '从', to: '至（不含）', reprocess: '哪些日期',
    reprocesses: { none: '没有运行过的', failed: '也包括失败的', all: '全部' },
    reprocessHelp: { none: '已错过、已跳过或没有记录的日期。', failed: '失败的日期再尝试一次。', all: '成功的日期也重新运行。' },
    order: '顺序', orders: { oldest: '从最早的开始', newest: '从最近的开始' }, concurrency: '同时运行', maxFailures: '失败多少次后停止', noLimit: '不限',
    preview: '预览', pickDates: '请选择时间范围。', runs_one: '将运行 {{count}} 个日期：', runs_other: '将运行 {{count}} 个日期：', nothing: '没有要运行的日期。', again: '{{date}}（第 {{attempt}} 次尝试）',
    live_one: '{{count}} 个日期被略过：其运行尚未结束。', live_other: '{{count}} 个日期被略过：其运行尚未结束。', confirm_one: '运行 {{count}} 个日期', confirm_other: '运行 {{count}} 个日期',
    includeUnknown: '包括早于任务历史的日期', includeUnknownHelp: '任务创建之前的日期，或其记录已按保留期限删除的日期。它们可能运行过。', unknown_one: '{{count}} 个日期被略过：早于任务的历史。可在上方选择包括。', unknown_other: '{{count}} 个日期被略过：早于任务的历史。可在上方选择包括。',
    yielded_one: '{{count}} 次计划触发因此被跳过。', yielded_other: '{{count}} 次计划触发因此被跳过。', runYielded: '运行它们…',
    yieldedMore: '至少 {{count}} 次计划触发因此被跳过。', yieldedPartial: '日志存储不可用：让位的计划触发可能未全部列出。', gaveWay: '让位的日期', gaveWayHelp: '因已有一次触发在等待回填的运行而被跳过、此后也没有运行的计划触发。', theirTimes: '它们的计划时间',
    pageOf: '{{job}} 的回填', notFound: '没有此回填。', allJobs: '所有任务的回填', intro: '回填会运行任务过去的触发。请在任务页面新建。', noneHere: '本页没有回填。',
    progress: '进度', took: '耗时 {{time}}。', left_one: '还剩 {{count}} 个日期。', left_other: '还剩 {{count}} 个日期。', expected: '预计结束：{{when}}。', range: '范围', notKept: '未保留', yes: '是', begun: '开始', endedAt: '结束',
    itsDates: '日期', anyStatus: '任意状态', noDates: '没有此状态的日期。', datesNotKept: '此回填由较早版本结束，未保留其日期。', itsRuns: '它的运行',
    wrong: { from: '请选择时间。', to: '请选择比起始更晚的时间。', concurrency: '1 至 {{most}} 的整数。', maxFailures: '整数，或留空。' },
  },
  fireCalendar: {
    title: '日历', help: '每天的触发，按其最后一次尝试的结果显示。某天的颜色优先表示正在进行的触发，否则表示最差的结果。', zone: '日期按时区 {{zone}} 划分。',
    howTo: '拖动选择多天，或按住 Shift 用方向键选择后按回车，即可回填。', earlier: '更早的月份', later: '更晚的月份', months: '月数', monthsShown_one: '{{count}} 个月', monthsShown_other: '{{count}} 个月',
    states: { backfill: '待回填', unrecorded: '无记录', none: '无计划触发' }, selected: '已选择 {{count}} 天：{{from}} – {{to}}', firesOf: '{{day}}的触发', inLedger: '在台账中查看', backfillDay: '回填这一天…',
    summarized: '来自统计：运行已被删除，或数量过多而无法逐个计数。', noEntries: '台账中没有这一天的条目。已错过或已跳过的触发可能包含在跨越多天的条目中。', more: '当天最后 {{count}} 次触发。全部触发见台账。',
    show: '在日历中显示', marked: '已标出此回填的日期。', unmark: '取消标记', chosen: '回填中：{{figures}}',
  },
  approvals: {
    title: '待审批', of: '{{flow}} 的 {{step}}', until: '超时于', approve: '批准', reject: '驳回', approveOf: '批准 {{step}}', rejectOf: '驳回 {{step}}', approveTitle: '批准 {{step}}？', rejectTitle: '驳回 {{step}}？',
    approveDone: '已批准 {{step}}。', rejectDone: '已驳回 {{step}}。', approveText: '流程继续运行其后的步骤。', rejectText: '此步骤失败，需要它成功的步骤不会运行。', noteHelp: '与运行一起显示，并记入审计。',
    barred: '此流程运行由您启动，须由其他人批准此步骤。', onlyRole: '需要流程所属分组的“{{role}}”角色。', onlyGroup: '只有分组“{{group}}”的成员可以答复，且须在该分组中具有“{{role}}”角色。',
  },
};
