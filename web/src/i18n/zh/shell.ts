import type { Texts } from '../texts.ts';
import type { shell as english } from '../en/shell.ts';

export const shell: Texts<typeof english> = {
  nav: { overview: '概览', timeline: '时间线', access: '访问', jobs: '任务', runs: '运行', ledger: '台账', workers: '工作节点', main: '主导航', skip: '跳到正文', home: 'Carillon，概览' },
  common: {
    cancel: '取消', close: '关闭', retry: '重试', copy: '复制', copied: '已复制', loading: '加载中…', none: '–',
    previous: '上一页', next: '下一页', page: '第 {{page}} 页', paging: '分页', details: '请求 {{id}}', actions: '操作', about: '概况', clear: '清除搜索',
    default: '默认：{{value}}',
  },
  settings: {
    theme: '主题', light: '浅色', dark: '深色', system: '跟随系统', language: '语言', account: '账户',
    signedInAs: '已登录：{{subject}}', signOut: '退出登录', shortcuts: '键盘快捷键',
  },
  roles: { viewer: '只读', operator: '操作员', editor: '编辑者', admin: '管理员', none: '仅在分组中有角色', inGroup: '分组 {{group}}：{{role}}' },
  shortcuts: {
    title: '键盘快捷键', search: '转到搜索框', jobs: '转到任务', runs: '转到运行', ledger: '转到台账', workers: '转到工作节点', help: '显示此列表',
    then: '然后',
  },
  offline: {
    title: '服务器没有响应。',
    text: '当前内容可能已过时。页面会自动重试，服务器恢复后即可继续。',
    first: 'Carillon 服务器尚未响应，页面会自动重试。',
    outOfDate: '服务器上有更新的控制台，请重新加载页面。',
  },
  degraded: {
    since: '开始于', seenBy: '发现者：{{who}}', more_one: '以及另外 1 个', more_other: '以及另外 {{count}} 个',
    partial: '目前无法查看历史：此处仅列出等待中、运行中或刚刚结束的内容。',
    unavailable: '集群没有响应。', unavailableText: '您看到的内容可能已过时，也无法进行修改。本页面会自动重试。',
  },
  conditions: {
    etcd_away: { title: 'etcd 没有响应。', text: '不会启动新的运行，也无法修改任何内容。现有运行会在其任务允许的时间（lostAfter）内继续。期间错过的触发将在 etcd 恢复后处理并入账。' },
    etcd_full: { title: 'etcd 已满。', text: '它不接受写入：不会启动运行，也无法保存修改。请腾出空间、整理碎片并解除其告警。' },
    log_store_away: { title: '日志存储没有响应。', text: '任务照常运行。结果和输出会等待，在其恢复后写入；在此之前不显示历史。' },
    outbox_full: { title: '等待写入日志存储的结果过多。', text: '在其被接收之前，工作节点不领取新的运行。' },
    spool_full: { title: '某工作节点已没有空间存放等待日志存储的输出。', text: '最早的输出正被丢弃；缺失之处会有标注。' },
    disk_full: { title: '某工作节点的磁盘已满。', text: '它不领取新的运行，现有运行继续。' },
    clock_off: { title: '有时钟与集群不一致。', text: '请校准时钟（NTP）。时钟偏差过大的工作节点不领取运行。' },
    worker_lost: { title: '工作节点 {{worker}} 已失联。', text: '它持有的运行：{{runs}} 个。其他工作节点会按任务的设置重新运行，或记为已丢失。' },
    no_workers: { title: '没有存活的工作节点。', text: '在有工作节点之前，什么都不会运行。' },
    watch_stale: { title: '已有一段时间没有收到任务的消息。', text: '期间的修改可能尚未得知。' },
    unreadable: { title: 'etcd 中有 {{count}} 项内容无法读取。', text: '第一项是 {{first}}。它们保持原样，日志中列有名称。' },
    certificate_ends: { title: '用于 {{use}} 的证书即将到期，或已到期。', text: '到期时间为 {{at}}。在其文件中换上新证书后，无需重启即可生效：{{file}}。' },
    certificate_unusable: { title: '用于 {{use}} 的新证书无法使用。', text: '仍在使用原来的证书：{{error}}' },
    misses_feature: { title: '工作节点 {{worker}}（{{version}}）版本过旧，不支持部分任务。', text: '这些任务由较新的工作节点运行。它们需要：{{needs}}。' },
    housekeeping_fails: { title: '历史记录未能保持在限额之内。', text: '旧的运行记录暂时保留：{{error}}' },
    fires_overdue: { title: '有 {{count}} 个任务的触发已逾期，且无人领取。', text: '第一个是 {{first}}，自 {{since}} 起到期。请检查工作节点以及任务对它们的要求。' },
    fire_without_entry: { title: '有一次触发在台账中没有记录。', text: '{{job}}，计划时间 {{plannedAt}}。这不应发生，请报告。最近一天内：{{count}}。' },
    notify_failing: { title: '有通知渠道持续发送失败：{{channels}}。', text: '一天之内会不断重试。请检查其设置，并发送一条测试。' },
    run_as_ignored: { title: '工作节点的用户规则文件无法使用。', text: '仍按其先前的内容执行：{{error}}' },
    changes_full: { title: '暂时无法保存任务。', text: '有 {{count}} 条变更在 etcd 中等待写入日志存储，数量过多。运行不受影响，仍可终止运行、暂停任务。' },
    audit_stuck: { title: '变更未能写入审计记录。', text: '它们暂存于 etcd，不会丢失：{{error}}' },
  },
  login: {
    title: '登录 Carillon', user: '用户', password: '密码', token: '访问令牌', tokenPlaceholder: 'car_…', submit: '登录', exchanging: '正在通过链接登录…',
    byToken: '使用访问令牌登录', byPassword: '使用用户和密码登录',
    sso: {
      refused: '单点登录未成功，请重试。', not_allowed: '您的身份已确认，但在此没有任何角色，请联系管理员。',
      unavailable: '单点登录服务暂时没有响应，请稍后重试。', busy: '尝试次数过多，请一分钟后再试。',
    },
    wrongPassword: '用户或密码不正确。', tooMany: '尝试次数过多，请一分钟后再试。',
    expired: '会话已结束，请重新登录，继续刚才的操作。',
    hintStandalone: 'carillon-standalone 首次启动时会打印登录链接，并将管理员令牌保存在此文件中：',
    hintCluster: '在集群中，以下命令会打印首个管理员令牌（仅一次）：',
    linkFailed: '此登录链接无效。链接只能使用一次，且须在 15 分钟内使用。请改用令牌登录。',
    wrongToken: '此令牌无效或已过期。',
  },
  problem: {
    title: '操作未成功', away: '服务器没有响应。', unexpected: '控制台发生了意外错误。', reloadPage: '重新加载页面',
  },
  status: {
    planned: '计划中', waiting: '等待中', running: '运行中', succeeded: '成功', failed: '失败', timed_out: '超时', killed: '已终止', lost: '丢失',
    skipped: '已跳过', refused: '已拒绝', missed: '已错过',
  },
  cause: { cron: '计划', catchup: '补跑', manual: '手动', retry: '重试', rerun: '丢失后重跑' },
  flags: {
    late: '迟到', lateText: '它此时本应已经开始。', slow: '过慢', slowText: '它的运行时间远超平常。',
    overdue: '逾期', overdueText: '有一次触发已到期，但无人领取。', overdueTitle: '此任务有一次触发已到期，但无人领取', overdueSince: '到期时间',
  },
  expected: { label: '参照以往运行的进度', left: '按平常还需 {{time}}', over: '已超出平常 {{time}}' },
  early: {
    nothing: '暂无结果：符合条件的很少，更早的记录中可能还有。', some: '本页提前结束：符合条件的很少，更早的记录中可能还有。',
    goOn: '继续往前找', end: '更早的记录中没有了。',
  },
  delete: {
    title: '删除 {{name}}？', text: '不会再启动新的运行。正在进行的运行会继续，台账中的记录全部保留。',
    confirm: '删除任务', done: '任务 {{name}} 已删除。',
  },
  notFound: { title: '这里什么也没有', text: '地址可能已失效或有误。', home: '转到概览' },
  pause: {
    pause: '暂停', resume: '恢复', paused: '已暂停', done: '已结束', doneText: '其计划已没有后续触发。',
    pausedTitle: '此任务已暂停', goesOn: '将自动恢复于', untilResumed: '有人恢复后才会再次触发。', untilTime: '至 {{time}}',
    noneWhile: '暂停期间没有触发。',
    title: '暂停 {{name}}？',
    text: '恢复之前不再触发。期间错过的触发会记为已跳过，不会补跑。正在进行的运行不受影响，任务仍可手动运行。',
    note: '原因', noteHelp: '显示在任务和台账中。', until: '暂停至', untilHelp: '留空则直到有人恢复。按您的时区 {{zone}}。', confirm: '暂停任务',
    said: '任务 {{name}} 已暂停。', resumeTitle: '恢复 {{name}}？', resumeText: '从现在起按计划触发。期间错过的触发会记为已跳过。', resumed: '任务 {{name}} 已恢复触发。',
  },
  runDialog: {
    title: '立即运行 {{name}}', workerHelp: '只在该节点上运行。', anyWorker: '按任务的放置规则', noteHelp: '运行的原因，与运行一起显示。',
    default: '默认值：{{value}}', pattern: '须匹配：{{pattern}}',
  },
};
