import type { Texts } from '../texts.ts';
import type { runs as english } from '../en/runs.ts';

export const runs: Texts<typeof english> = {
  repeated: {
    at: '将于{{at}}重试', waiting: '第 {{n}} 次尝试正在等待', running: '第 {{n}} 次尝试正在运行', succeeded: '已重试；第 {{n}} 次尝试成功', failed: '已重试；第 {{n}} 次尝试失败', timed_out: '已重试；第 {{n}} 次尝试超时',
    killed: '已重试；第 {{n}} 次尝试被终止', lost: '已重试；第 {{n}} 次尝试已丢失', skipped: '已重试；第 {{n}} 次尝试被跳过', refused: '已重试；第 {{n}} 次尝试被拒绝', missed: '已重试；第 {{n}} 次尝试已错过',
  },
  jobField: {
    label: '任务', placeholder: '任务：名称或标题的一部分', none: '没有任务的名称或标题包含“{{text}}”。', asName: '仅按名称“{{name}}”，例如已删除的任务',
    only: '这里只列出任务 {{name}}。', noJob: '没有名为“{{name}}”的任务。', meant: '您是否要找：',
  },
  runs: {
    moreFilters: '更多筛选', moreFiltersOn: '更多筛选：{{count}}',
    flowRun: '流程运行，步骤 {{step}}', title: '运行', table: '运行列表', run: '运行', job: '任务', status: '状态', planned: '计划时间', duration: '耗时', delay: '启动延迟', worker: '工作节点', cause: '起因',
    text: '原因、备注、节点…', filterStatus: '状态', anyStatus: '全部状态', emptyTitle: '还没有运行', emptyText: '计划触发或手动运行任务后，运行会显示在这里。',
    anyCause: '全部起因', anyWorker: '全部节点', trouble: '所有异常', going: '等待或运行中', range: '时间', anyTime: '不限时间', hour: '最近 1 小时', day: '最近 24 小时', week: '最近 7 天', custom: '自定义…', from: '从', to: '至',
    killRun: '终止 {{job}} 的运行', cancelRun: '取消 {{job}} 等待中的运行', acts: '操作', nothingFound: '没有符合筛选条件的运行', clearFilter: '显示全部运行', goToJobs: '转到任务', open: '查看 {{job}} 的运行，计划时间 {{time}}', gapFact: '触发', gap_one: '1 次触发，自 {{from}} 起', gap_other: '{{count}} 次触发，自 {{from}} 起', gapAtLeast_one: '至少 1 次触发，自 {{from}} 起', gapAtLeast_other: '至少 {{count}} 次触发，自 {{from}} 起', due: '推迟 {{delay}}',
  },
  usage: {
    title: '资源', cpuTime: 'CPU 时间', mean: '单核的 {{share}}', perAttempt: '每次尝试 {{time}}', cpuByDay: '每日 CPU 时间', cpuByHour: '每小时 CPU 时间', memoryByDay: '每日内存峰值', memoryByHour: '每小时内存峰值', storageByDay: '每日存储读写', storageByHour: '每小时存储读写', storageTotal: '存储读写', costliest: 'CPU 时间最多的任务', aboutLoad: '运行的用量在其结束时计入。', peak: '内存峰值', ofLimit: '上限 {{limit}}', read: '读取', written: '写入', processes: '最多进程数', processor: '处理器', resident: '内存', limit: '上限',
    cpuChart: '处理器（占单核）', memory: '内存', storage: '存储（每秒）', fromProc: '按运行的各个进程测量：在两次采样之间开始并结束的进程，其用量不在图表中。',
    soon: '第二次采样后开始显示图表。', short: '它在采样之前就已结束，因此没有图表。', unmeasured: '没有测量数据：它结束得太早，或其工作节点版本较旧。', within: '此类型没有自己的进程：它在工作节点内运行，其用量不按运行区分。',
  },
  run: {
    around: '此运行前后（±{{minutes}} 分钟）：', aroundRuns: '所有运行', title: '{{job}} 的运行', planned: '计划', claimed: '领取', started: '开始', ended: '结束', due: '到期', notYet: '尚未', never: '未发生', unknown: '未知', exitCode: '退出码', signal: '信号', reason: '原因',
    worker: '工作节点', attempt: '尝试次数', attempts: '各次尝试', attemptNumber: '第 {{n}} 次尝试', params: '参数', outputs: '输出值', paramDefault: '（默认）', waits: '此运行尚未开始', dueAt: '最早于 {{at}} 开始。',
    parents: '前置运行', followers: '后续任务', noFollowers: '成功后不触发其他任务', cause: '起因', leftover: '遗留进程', lastLine: '最后一行：', leftoverText_one: '{{count}} 个，已随命令一起结束', leftoverText_other: '{{count}} 个，已随命令一起结束', triggeredBy: '触发者', trace: '链路追踪', schedule: '计划', note: '备注', duration: '耗时', id: '运行 ID', version: '任务版本',
    output: '输出', all: '全部', stdout: '标准输出', stderr: '标准错误', stream: '输出类型', follow: '跟随', wrap: '自动换行', download: '下载', noOutput: '命令没有任何输出。',
    noOutputStream: '此处没有输出。', notStarted: '命令开始后，输出会显示在这里。', didNotRun: '本次触发没有运行，因此没有输出。', live: '实时', away: '日志存储没有响应；恢复后将继续显示输出。', truncated: '输出超过任务允许的大小，仅保留了开头和结尾。',
    nothingYet: '还没有输出。', pickHintTouch: '点另一个行号，可选中到该行为止。',
    bytes: '已输出：{{size}}', lines: '行数：{{count}}', log: '运行的输出', kill: '终止', 
   
    again: '再次运行', againHelp: '此触发的下一次尝试，参数相同。台账中该触发仍为一条。', againWith: '带选项新建运行…', againAsking: '再次运行…', againTitle: '再次运行 {{name}}', againText: '此触发的下一次尝试。台账中该触发仍为一条。', previousRun: '此任务的上一次运行', nextRun: '此任务的下一次运行', ledger: '台账', ledgerLink: '在台账中显示',
    versionDiffers: '此后已修改', versionSame: '当前版本', hiddenText: '您在此任务的分组中没有角色，无法查看其参数、备注和输出。',
    notFound: '没有此运行，或其记录已不再保留。', allRuns: '全部运行', lateTitle: '延迟的结束', lateText: '该运行已被记为丢失，之后工作节点 {{worker}} 才报告它的结束：{{status}}。结果仍为丢失：后续处理当时已经决定，下一次尝试可能也已运行。',
    timeline: '过程', delayOf: '+{{delay}}',
    times: '时间', firstError: '首个错误', full: '全屏', leaveFull: '退出全屏', find: '在输出中查找', matchCase: '区分大小写', regex: '正则表达式',
    previousMatch: '上一处（Shift+Enter 或 N）', nextMatch: '下一处（Enter 或 n）', matches: '找到 {{total}} 处', matchOf: '第 {{rank}} 处，共 {{total}} 处', noMatch: '没有找到',
    badRegex: '不是有效的正则表达式。', slowRegex: '这里不支持含有环视或反向引用的表达式。', noError: '标准错误没有输出，也没有提到错误的行。',
    newest_one: '跳到最新 · 1 行新输出', newest_other: '跳到最新 · {{count}} 行新输出', hole: '此处缺少 {{size}} 输出', over: '此行先前的文字被回车符覆盖；下载的文件中仍有。',
    earlier: '更早的 {{size}} 输出尚未加载。', loadEarlier: '加载之前的 {{size}}', loadAll: '全部加载', earlierMatches_one: '更早的输出中有 1 处匹配', earlierMatches_other: '更早的输出中有 {{count}} 处匹配',
    earlierMatchesMore_one: '更早的输出中至少有 1 处匹配', earlierMatchesMore_other: '更早的输出中至少有 {{count}} 处匹配',
    picked: '选中的行', line: '第 {{n}} 行', lineRange: '第 {{from}} 至 {{to}} 行', copyLines: '复制这些行', copyLink: '复制链接', pickHint: '按住 Shift 点另一个行号可选中一段。', clearPicked: '取消选中的行',
    linesHere: '已加载行数：{{count}}', keyFind: '查找', keyWrap: '换行', keyError: '首个错误', hiddenOutput: '您在此任务的分组中没有角色，无法查看其输出。',
  },
  search: {
    open: '搜索输出', title: '搜索输出', what: '要查找的文本', regex: '正则表达式', case: '区分大小写', submit: '搜索',
    emptyTitle: '搜索运行的输出', emptyText: '从最新的运行开始搜索。按任务、分组、工作节点、状态和时间缩小范围，就能搜得更远。',
    found: '找到该内容的运行', nothing: '没有找到。', nothingYet: '暂未找到。', more: '此运行中可能还有更多。',
    scanned_one: '已查看 1 次运行，共 {{size}} 输出。', scanned_other: '已查看 {{count}} 次运行，共 {{size}} 输出。', until: '已查到 {{time}}。', all: '已全部查完。',
  },
  outcome: {
    ask: '如需再次运行，请联系操作员。', askIn: '如需再次运行，请联系分组 {{group}} 的操作员。', title: '结果', means: '含义', todo: '怎么办', now: '目前', exitBy: 'Shell 用 {{code}} 表示 {{signal}}。',
    exit: {
      general: '命令失败（一般错误）；多数程序会在最后几行说明原因。', usage: '按惯例：命令的调用方式不对，某个选项或参数有误。', data: '输入数据不符合预期。', noInput: '输入文件不存在或无法读取。', noUser: '所指的用户不存在。',
      noHost: '所指的主机未知。', unavailable: '它需要的服务没有响应。', software: '程序内部出错。', system: '操作系统拒绝了某个请求，例如创建进程。', systemFile: '某个系统文件缺失或无法读取。', cannotCreate: '无法创建输出文件。', io: '读写失败。',
      temporary: '暂时的故障：程序希望稍后重试。', protocol: '对方的回答无法理解。', permission: '权限不足。', configuration: '配置有误。', timeout: 'timeout(1) 结束了程序。', notExecutable: '找到了命令，但无法执行：没有执行权限，或缺少解释器。',
      notFound: 'Shell 找不到命令中的某个程序。', outOfRange: '出现故障，且退出码超出范围；ssh 连接失败时也会如此。',
    },
    signal: {
      hangup: '它的终端或会话已消失。', interrupt: '它被中断，如同按下 Ctrl-C。', crash: '程序崩溃。', abort: '程序发现异常，主动中止。', arithmetic: '程序在计算中崩溃，例如除以零。', kill: '它被强制终止，来不及收尾。如果没有人这样做，多半是内核因内存耗尽所为。',
      segfault: '程序崩溃：访问了不属于它的内存。', pipe: '它向一个已无人读取的管道写入。', alarm: '它自己的定时器到时。', term: '它被请求结束（SIGTERM）。', cpuLimit: '使用的 CPU 时间超出限制。', fileLimit: '写入的文件超出大小限制。',
      forbidden: '它进行了被禁止的系统调用。', own: '含义由程序自定的信号。',
    },
    advice: {
      exit_code: '请看输出的最后几行，或跳到首个错误。排除原因后再次运行。', signal: '请查看工作节点的内核日志，以及谁能在那里发送信号。', signal_measured: '内存峰值为 {{memory}}。请查看工作节点的内核日志，以及谁能在那里发送信号。', timeout: '请看它最后在做什么。如果确实需要更久，请调大任务的超时时间。',
      max_run_time: '工作节点自身的规则限制了运行时长，由管理该节点的人调整。', killed_by_user: '之后不会自动再运行。终止的原因解决后，请再次运行。', worker_stopping: '工作节点在运行结束前被停止或重启。除非任务另有设置，将自动再试。延长节点的排空时限可让此类运行自行结束。',
      worker_stopping_followed: '工作节点在运行结束之前被停止或重启。延长工作节点的排空超时，可让此类运行执行完毕。',
      worker_cut_off: '工作节点过久无法连接 etcd，为避免重复运行而结束了它。请检查两者之间的网络。', worker_died: '工作节点与此运行一同失联，是否已完成无从得知：再次运行之前，请先确认它做了什么。', wait_failed: '无法得知它如何结束：再次运行之前，请先确认它做了什么。',
      workdir_missing: '请在工作节点上创建该目录，或更正任务的工作目录。', workdir_failed: '请检查工作节点的磁盘：可能没有空间或权限。', program_missing: '请在可运行此任务的节点上安装它，写出完整路径，或用选择器选择已安装的节点。', shell_missing: '请在工作节点上安装该 Shell，或为任务换一个。',
      out_of_memory: '请提高任务的内存上限，或减少命令的内存用量。', too_many_tasks: '请提高任务数上限，或让命令同时启动更少的进程。',
      start_failed: '工作节点的日志有详情。请检查命令、权限和机器的限制。', cannot_start: '每次尝试时，工作节点都缺少文件描述符、进程、内存或磁盘。请检查该机器，然后再次运行。', user_not_allowed: '只有以 root 运行的工作节点才能切换用户。请这样运行它，或不指定用户。', user_missing: '请在工作节点的机器上创建该用户，或更正任务。', group_disabled: '该节点的 run-as 文件没有允许此分组。请在那里加入，或用选择器选择其他节点。',
      outputs_invalid: '请把每个值写入单独的文件，例如：printf %s "$day" > "$CARILLON_OUTPUT/day"。值须为文本，最大 4 KiB。', shell_not_allowed: '请选择该节点允许此分组使用的 Shell，或在那里放行。', command_not_allowed: '该节点只允许此分组运行部分命令。请在那里放行，或改用其中之一。', param: '请用任务接受的值再次运行。', late: '没有工作节点能够及时领取。请查看工作节点；停机之后运行哪些触发，由任务的补跑策略决定。',
      overlap: '上一次运行仍在进行。如果经常如此，请减少频率，或更改重叠策略。', queue_full: '已有一次触发在等待，不能更多。请减少频率，或查明运行为何这么久。', backfill: '已有另一次触发在等待回填的运行。待该回填结束后，可再用一次回填运行它。', replaced: '任务只要最新的一次触发。除非总是如此，否则无需处理。', no_worker: '请更改任务的节点选择，或启动、标记一个符合条件的工作节点。任务页面会逐一列出各节点的原因。',
      pool_full: '使用该资源池的运行结束足够多后会启动。可增加资源池的槽位，或提高任务的优先级。', pool_missing: '请创建该资源池，或从任务中移除它。',
      no_slot: '所有槽位都被占用。请增加槽位或节点，错开计划，或提高任务的优先级。', outbox_full: '请恢复日志存储，触发会自动继续；已过期限的触发合为一条记录，或按任务的设定补跑。', paused: '需要时请恢复任务。', maintenance: '无需处理。“维护窗口”页面可查看、修改或结束该窗口。', queued: '上一次运行结束后会自动开始。', backoff: '会自动重试。', needs_feature: '请升级工作节点。', panic: '输出的末尾有调用栈。程序继续运行。', goexit: '函数或它调用的代码调用了 runtime.Goexit，例如 t.FailNow。', type_missing: '请在该节点安装插件，或选择提供它的节点。', type_untrusted: '请让 root 拥有插件及其上级目录，且不允许其他用户写入。', type_not_allowed: '请在该节点的 run-as 文件中为此分组允许该类型，或选择其他节点。', with_refused: '请更正任务的设置，或其中的值。', http_address: '只能访问公网地址。如确需访问，请把该网络加入工作节点的 httpAllow 设置。', secret_missing: '请创建该密钥，或更正任务中的名称。',
      secret_not_allowed: '请允许此分组使用该密钥，或换一个。', secret_sealed_otherwise: '请让该节点使用与其他节点相同的 secretsKey，或重新保存密钥。', secrets_away: 'etcd 没有响应，恢复后请再次运行。', too_large: '请精简任务的定义：把较长的脚本放到工作节点的文件中。',
    },
  },
};
