import type { Texts } from '../texts.ts';
import type { jobs as english } from '../en/jobs.ts';

export const jobs: Texts<typeof english> = {
  jobs: {
    results: '最近结果', resultsOf: '{{name}} 的最近结果：{{results}}', p95: '95% 耗时不超过',
    title: '任务', search: '搜索任务', new: '新建任务', table: '任务列表', name: '任务', schedule: '计划', nextFire: '下次触发',
    onlyTriggered: '仅手动触发', actionsFor: '{{name}} 的操作', run: '立即运行', runAsking: '立即运行…', runWith: '带选项运行…', runOf: '立即运行 {{name}}', edit: '编辑', delete: '删除',
    runRequested: '已请求运行 {{name}}。', openRun: '查看运行',
    emptyTitle: '还没有任务', emptyText: '导入现有的 crontab。它不会改动您的机器，重复导入也不会产生变化：',
    emptyOr: '也可以在这里定义第一个任务：只需名称、计划和命令。', emptyViewer: '有人定义任务后，它会显示在这里。',
    nothingFound: '没有与“{{q}}”匹配的任务', nothingFoundText: '搜索范围包括名称、标题和分组。', clearSearch: '显示全部任务',
  },
};
