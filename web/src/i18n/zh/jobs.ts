import type { Texts } from '../texts.ts';
import type { jobs as english } from '../en/jobs.ts';

export const jobs: Texts<typeof english> = {
  jobs: {
    results: '最近结果', resultsOf: '{{name}} 的最近结果：{{results}}', p95: '95% 耗时不超过',
    title: '任务', search: '搜索任务', new: '新建任务', newMore: '更多新建方式', import: '导入 crontab…', table: '任务列表', name: '任务', schedule: '计划', nextFire: '下次触发', lastFire: '最近运行',
    lastOf: '{{name}} 的最近一次运行：{{status}}',
    group: '分组', labels: '标签', updated: '修改时间', state: '状态', groups: '任务分组', filters: '筛选',
    onlyTriggered: '仅手动触发', actionsFor: '{{name}} 的操作', run: '立即运行', runAsking: '立即运行…', runWith: '带选项运行…', runOf: '立即运行 {{name}}', edit: '编辑', copy: '复制…', delete: '删除',
    runRequested: '已请求运行 {{name}}。', openRun: '查看运行',
    neverRun: '尚未运行',
    hiddenText: '您在该分组中没有角色，任务内容不予显示。',
    emptyTitle: '还没有任务', emptyText: '导入现有的 crontab，或定义第一个任务：只需名称、计划和命令。', emptyNew: '定义任务',
    emptyOr: '在装有 cronctl 的机器上也可以用命令导入。它不会改动那台机器，重复导入也不会产生变化：', emptyViewer: '有人定义任务后，它会显示在这里。',
    nothingFound: '没有与“{{q}}”匹配的任务', nothingFoundText: '在所选分组、状态和标签的范围内搜索名称和标题。', clearSearch: '显示全部任务',
    nothingThere: '没有符合筛选条件的任务', nothingThereText: '该分组中没有处于此状态且带有这些标签的任务。',
    all: '全部任务', withoutGroup: '未分组', pausedOf_one: '{{count}} 个已暂停', pausedOf_other: '{{count}} 个已暂停', findGroup: '查找分组', noGroupFound: '没有名称包含该文字的分组。',
    fold: '收起 {{group}}', unfold: '展开 {{group}}', allGroups: '显示全部 {{count}} 个分组', anyState: '不限',
    states: { active: '启用', paused: '已暂停', done: '已结束', manual: '手动触发' },
    selector: '标签，例如 team=data,tier!=slow', emptyLabel: '（空）', withoutFilter: '去掉筛选条件 {{name}}',
    saved: '已存筛选', saveFilter: '保存当前筛选', filterName: '名称', filterNameHelp: '保存在此浏览器中。页面地址即是同一筛选的链接。', filterTaken: '已有同名筛选，将被替换。',
    forget: '删除已存筛选 {{name}}', save: '保存',
    view: '列与导出', columns: '显示的列', columnsHint: '窗口较窄时会省略部分列。', export: '导出为 YAML', exportAll: '将全部匹配项导出为 YAML',
    exporting: '正在导出：{{percent}}%', exported_one: '已导出 {{count}} 个任务。', exported_other: '已导出 {{count}} 个任务。', exportedNone: '没有可导出的任务。',
    exportHidden_one: '有 {{count}} 个未导出：您在其分组中没有角色。', exportHidden_other: '有 {{count}} 个未导出：您在其分组中没有角色。',
    sort: '排序', sorts: { name: '按名称', nextFire: '最先触发在前', updated: '最久未改在前', group: '按分组' },
    sortsDown: { name: '按名称倒序', nextFire: '最先触发在后', updated: '最近修改在前', group: '按分组倒序' },
    rowMoved: '列表刚刚发生了移动，因此没有运行任何任务。如果这正是您要运行的任务，请再按一次。',
    select: '选择 {{name}}', selectShown: '选择当前可见的全部任务', selection: '所选任务', selected_one: '已选 {{number}} 个任务', selected_other: '已选 {{number}} 个任务',
    selectAll: '选择全部 {{number}} 个', selectMost: '一次最多整体选择 {{number}} 个，请缩小范围。', selectNone: '取消选择', more: '更多操作',
    bulk: {
      andMore_one: '以及另外 {{number}} 个', andMore_other: '以及另外 {{number}} 个',
      leftOut_one: '另有 {{number}} 个所选任务在您的角色无权执行此操作的分组中，将保持不变。', leftOut_other: '另有 {{number}} 个所选任务在您的角色无权执行此操作的分组中，将保持不变。',
      alreadyPaused_one: '其中 {{number}} 个已经暂停，其备注和截止时间会更新。', alreadyPaused_other: '其中 {{number}} 个已经暂停，其备注和截止时间会更新。',
      runsPaused_one: '其中 {{number}} 个处于暂停状态，仍会运行。', runsPaused_other: '其中 {{number}} 个处于暂停状态，仍会运行。',
      notPaused_one: '其中 {{number}} 个没有暂停，将保持不变。', notPaused_other: '其中 {{number}} 个没有暂停，将保持不变。',
      alsoKill: '同时终止正在进行的运行', typeCount: '输入 {{count}} 以确认',
      doing: '已完成 {{done}} / {{all}} 个', progress: '进度', stop: '到此为止', refused_one: '{{number}} 个被拒绝', refused_other: '{{number}} 个被拒绝', unknown_one: '{{number}} 个结果未知', unknown_other: '{{number}} 个结果未知', left_one: '{{number}} 个尚未开始', left_other: '{{number}} 个尚未开始', notKnown: '结果未知：', outcomes: '每个任务的结果',
      unknownText: '集群没有及时应答，操作可能已经完成。再次请求不会重复执行。', goOn: '继续处理其余任务', showMore: '显示更多（{{number}}）',
      killed_zero: '没有正在进行的运行。', killed_one: '已请求终止 {{count}} 个运行。', killed_other: '已请求终止 {{count}} 个运行。',
      run: {
        verb: '批量运行', title_one: '立即运行 {{number}} 个任务？', title_other: '立即运行 {{number}} 个任务？', text: '每个任务立即运行一次，使用参数的默认值，并遵循各自的放置和重叠策略。原有计划不受影响。',
        note: '与运行一起显示。', confirm_one: '运行 {{number}} 个任务', confirm_other: '运行 {{number}} 个任务', done_one: '已请求 {{number}} 个运行', done_other: '已请求 {{number}} 个运行', did: '已请求',
      },
      pause: {
        verb: '批量暂停…', title_one: '暂停 {{number}} 个任务？', title_other: '暂停 {{number}} 个任务？', text: '恢复之前它们不再触发。期间错过的触发记为已跳过，不会补跑。正在进行的运行不受影响。',
        note: '与每个任务一起显示，并写入台账。', confirm_one: '暂停 {{number}} 个任务', confirm_other: '暂停 {{number}} 个任务', done_one: '已暂停 {{number}} 个', done_other: '已暂停 {{number}} 个', did: '已暂停',
      },
      resume: {
        verb: '批量恢复', title_one: '恢复 {{number}} 个任务？', title_other: '恢复 {{number}} 个任务？', text: '从现在起按计划重新触发。已经过去的触发记为已跳过。',
        note: '恢复的原因。', confirm_one: '恢复 {{number}} 个任务', confirm_other: '恢复 {{number}} 个任务', done_one: '已恢复 {{number}} 个', done_other: '已恢复 {{number}} 个', did: '重新触发',
      },
      kill: {
        verb: '终止运行中的…', title_one: '终止 {{number}} 个任务的运行？', title_other: '终止 {{number}} 个任务的运行？', text: '请求结束这些任务所有等待中或进行中的运行，超过任务的宽限时间后强制结束。任务仍按计划触发。',
        note: '与运行一起显示。', confirm_one: '终止 {{number}} 个任务的运行', confirm_other: '终止 {{number}} 个任务的运行', done_one: '已处理 {{number}} 个', done_other: '已处理 {{number}} 个', did: '已处理',
      },
      delete: {
        verb: '批量删除…', title_one: '删除 {{number}} 个任务？', title_other: '删除 {{number}} 个任务？', text: '它们不会再有新的运行。台账中的内容全部保留。',
        note: '写入审计记录。', confirm_one: '删除 {{number}} 个任务', confirm_other: '删除 {{number}} 个任务', done_one: '已删除 {{number}} 个', done_other: '已删除 {{number}} 个', did: '已删除',
      },
    },
  },
};
