import type { Texts } from '../texts.ts';
import type { runs as english } from '../en/runs.ts';

export const runs: Texts<typeof english> = {
  runs: {
    title: '运行', table: '运行列表', run: '运行', job: '任务', status: '状态', planned: '计划时间', duration: '耗时', delay: '启动延迟', worker: '工作节点', cause: '起因',
    text: '原因、备注、节点…', filterStatus: '状态', anyStatus: '全部状态', search: '任务名称', emptyTitle: '还没有运行', emptyText: '计划触发或有人手动运行任务后，运行会显示在这里。',
    nothingFound: '没有符合筛选条件的运行', clearFilter: '显示全部运行', goToJobs: '转到任务', open: '查看 {{job}} 的运行，计划时间 {{time}}', gapFact: '触发', gap_one: '1 次触发，自 {{from}} 起', gap_other: '{{count}} 次触发，自 {{from}} 起', gapAtLeast_one: '至少 1 次触发，自 {{from}} 起', gapAtLeast_other: '至少 {{count}} 次触发，自 {{from}} 起', due: '推迟 {{delay}}',
  },
  run: {
    title: '运行：', planned: '计划', claimed: '领取', started: '开始', ended: '结束', due: '到期', notYet: '尚未', never: '未发生', unknown: '未知', exitCode: '退出码', signal: '信号', reason: '原因',
    worker: '工作节点', attempt: '尝试次数', attempts: '各次尝试', attemptNumber: '第 {{n}} 次尝试', params: '参数', waits: '此运行尚未开始', dueAt: '最早开始于',
    where: '开始之前', whereText: '{{plan}} 后由工作节点受理，再过 {{claim}} 获得许可，再过 {{start}} 启动命令', cause: '起因', cpu: 'CPU 时间', memory: '内存峰值', triggeredBy: '触发者', note: '备注', duration: '耗时', id: '运行 ID', version: '任务版本',
    output: '输出', all: '全部', stdout: '标准输出', stderr: '标准错误', stream: '输出类型', follow: '跟随', wrap: '自动换行', download: '下载', noOutput: '命令没有任何输出。',
    noOutputStream: '此处没有输出。', notStarted: '命令开始后，输出会显示在这里。', didNotRun: '本次触发没有运行，因此没有输出。', live: '实时', away: '日志存储没有响应；恢复后将继续显示输出。', truncated: '输出超过任务允许的大小，仅保留了开头和结尾。',
    bytes: '已输出：{{size}}', lines: '行数：{{count}}', log: '运行的输出', kill: '终止', killTitle: '终止此运行？',
    killText: '将请求命令及其启动的所有进程结束，宽限时间过后强制终止。此运行会记为由您终止。', killConfirm: '终止运行', killSent: '已通知工作节点终止此运行。',
    notFound: '没有此运行，或其记录已不再保留。', allRuns: '全部运行', lateTitle: '它后来还是结束了', lateText: '该运行已被记为丢失。之后工作节点 {{worker}} 报告了它在那里的结局：{{status}}。这不算结果：后续处理当时已经决定，下一次尝试可能也已运行。',
    timeline: '过程',
    times: '时间', firstError: '首个错误', full: '全屏', leaveFull: '退出全屏', find: '在输出中查找', matchCase: '区分大小写', regex: '正则表达式',
    previousMatch: '上一处（Shift+Enter 或 N）', nextMatch: '下一处（Enter 或 n）', matches: '找到 {{total}} 处', matchOf: '第 {{rank}} 处，共 {{total}} 处', noMatch: '没有找到',
    badRegex: '不是有效的正则表达式。', slowRegex: '此表达式在这里可能永远算不完。', noError: '标准错误没有输出，也没有提到错误的行。',
    newest_one: '跳到最新 · 1 行新输出', newest_other: '跳到最新 · {{count}} 行新输出', hole: '此处缺少 {{size}} 输出', over: '此行先前的文字被回车符覆盖；下载的文件中仍有。',
    earlier: '更早的 {{size}} 输出尚未加载。', loadEarlier: '加载之前的 {{size}}', loadAll: '全部加载', earlierMatches_one: '更早的输出中有 1 处匹配', earlierMatches_other: '更早的输出中有 {{count}} 处匹配',
    earlierMatchesMore_one: '更早的输出中至少有 1 处匹配', earlierMatchesMore_other: '更早的输出中至少有 {{count}} 处匹配',
    picked: '选中的行', line: '第 {{n}} 行', lineRange: '第 {{from}} 至 {{to}} 行', copyLines: '复制这些行', copyLink: '复制链接', pickHint: '按住 Shift 点另一个行号可选中一段。', clearPicked: '取消选中的行',
    linesHere: '已加载行数：{{count}}', keyFind: '查找', keyWrap: '换行', keyError: '首个错误', hiddenOutput: '您在此任务的分组中没有角色，无法查看其输出。', delayOf: '+{{delay}}',
  },
  search: {
    open: '搜索输出', title: '搜索运行的输出', what: '要查找的文本', regex: '正则表达式', case: '区分大小写', submit: '搜索',
    emptyTitle: '您要找什么？', emptyText: '从最新的运行开始搜索。按任务和状态缩小范围，就能搜得更远。',
    found: '找到该内容的运行', nothing: '没有找到。', nothingYet: '暂未找到。', more: '此运行中可能还有更多。',
    scanned_one: '已查看 1 次运行，共 {{size}} 输出。', scanned_other: '已查看 {{count}} 次运行，共 {{size}} 输出。', until: '已查到 {{time}}。', all: '已全部查完。',
  },
};
