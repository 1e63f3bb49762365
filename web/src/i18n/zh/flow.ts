import type { Texts } from '../texts.ts';
import type { flow as english } from '../en/flow.ts';

export const flow: Texts<typeof english> = {
  flow: {
    status: {
      pending: '未开始', waiting: '等待中', running: '运行中', succeeded: '成功', failed: '失败', timed_out: '超时', killed: '已终止', lost: '丢失', skipped: '已跳过', refused: '已拒绝', missed: '已错过',
    },
    kind: { command: '命令', job: '任务', approval: '审批', wait: '等待', join: '汇合' },
    fires: { interval: '其计划在流程运行的区间内的所有触发', same: '与流程运行计划时间相同的触发', latest: '计划时间不晚于流程运行的最近一次触发' },
    on: { success: '成功', failure: '失败', skipped: '已跳过', not_failed: '未失败', done: '任意结束' },
    rule: {
      all_success: '全部成功', none_failed: '无失败', none_failed_one_success: '无失败且至少一个成功', all_done: '全部结束', all_failed: '全部失败', one_success: '一个成功', one_failed: '一个失败', one_done: '一个结束',
    },
    ruleHelp: {
      none_failed: '前面的步骤都没有失败时运行；被跳过的不影响。', none_failed_one_success: '前面的步骤都没有失败，且至少一个成功时运行。', all_done: '前面的步骤全部结束后运行，无论结果如何。', all_failed: '前面的步骤全部失败时运行。',
      one_success: '前面有一个步骤成功后立即运行。', one_failed: '前面有一个步骤失败后立即运行。', one_done: '前面有一个步骤结束后立即运行。',
    },
    fault: {
      duplicate: '另一个步骤已名为 {{name}}。', unknown: '没有步骤 {{name}}。', twice: '{{name}} 列出了两次。', cycle: '这些步骤互相等待：{{name}}。',
    },
    graph: '流程图', graphOf: '{{name}} 的流程图', noSteps: '写下步骤后，这里会显示它们。',
    exitCodes: '退出码 {{codes}}', stepOn: '{{step}}（条件：{{condition}}）', after: '在 {{steps}} 之后', when: '条件', whenIs: '条件 {{when}}', mayFail: '可失败', mayFailHelp: '此步骤无论如何结束都视为成功。', cleanUp: '清理', cleanUpHelp: '这是清理步骤：其他所有步骤结束后运行，失败、终止或超时之后也会运行。',
    map: '展开', items_one: '{{count}} 项', items_other: '{{count}} 项', itemsFailed_one: '{{count}} 项，{{failed}} 项失败', itemsFailed_other: '{{count}} 项，{{failed}} 项失败', showItems: '{{step}} 的各项',
    steps_one: '{{count}} 个步骤', steps_other: '{{count}} 个步骤', stepsFailed_one: '{{count}} 个步骤，{{failed}} 个失败', stepsFailed_other: '{{count}} 个步骤，{{failed}} 个失败',
    counted: '{{count}} 个{{status}}', layer: '第 {{layer}} 层', layers: '第 {{from}} 至 {{to}} 层',
    jobNamed: '任务 {{job}}', openFire: '任务 {{job}} 在 {{at}} 的触发', openJob: '打开任务 {{job}}', approval: '审批', waitsForJob: '等待任务 {{job}}', notRun: '未运行', notKept: '早于保留期', join: '不执行任何内容', joinHelp: '此步骤不执行任何内容，依赖满足后立即成功。', kept: '保留', faulty: '有问题', unnamed: '未命名', noSuchStep: '没有此步骤',
    keys: '方向键在步骤之间移动，Enter 打开步骤。', view: '图的视图', zoomIn: '放大', zoomOut: '缩小', showAll: '显示整个图', foldAll: '全部折叠', unfoldAll: '全部展开', find: '查找步骤', busy: '正在绘制…',
  },
};
