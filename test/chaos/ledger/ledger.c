/*
 * ledger is the command of the jobs of the chaos harness. It appends a line for each
 * thing that happens to it to a file, and shares nothing with what is tested:
 *
 *     what at pid job run attempt fence planned worker life a b c
 *
 * "at" is its boot clock in nanoseconds, read just before. One write to a file opened
 * with O_APPEND is whole, whoever else writes. Package check reads it, and says what
 * the events and their numbers a, b, c are.
 *
 *     -file F         the file; it must come first
 *     -locks DIR      hold DIR/<job> locked, or DIR/<job>.<replica> for a daemon job,
 *                     children and all, and write "met" where another process holds it:
 *                     two of the job, or of the replica, are alive
 *     -ms MIN MAX     how long to run, by the run's id
 *     -every MS SIZE  print a numbered line of SIZE bytes each MS milliseconds
 *     -code N         exit with N
 *     -fail PERCENT   exit with 1, so often, by the run's id
 *     -ignore-term    go on when told to end
 *     -daemon MS      leave a child behind: session of its own, orphaned, environment
 *                     wiped, outputs closed. It writes "alive" every 100 ms
 *     -hide MS        likewise, but a child of the command's own parent (CLONE_PARENT)
 *     -hold MS        likewise a child that keeps the outputs open
 *     -flood BYTES    print so many bytes as fast as can be, like yes(1)
 *     -line BYTES     print one line of so many bytes
 *     -garbage        print NULs, escapes and what is not UTF-8
 *     -stdin          read standard input to its end first
 *
 * What it prints can be verified: a numbered line is its number, the boot clock, the
 * run, padding, and the CRC-32 of all before.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BEAT_MS = 500, ALIVE_MS = 100, LEAST = 8, MOST = 8192, BLOCK = 65536 };

static int ledger = -1;
static char about[1024]; /* job run attempt fence planned worker life */
static volatile sig_atomic_t told;
static long long lines, bytes;
static int deaf; /* nobody reads what we print */

static int64_t clock_ns(clockid_t which)
{
	struct timespec now;

	clock_gettime(which, &now);
	return (int64_t)now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void note(const char *what, long long a, long long b, long long c)
{
	char line[1400];
	int n = snprintf(line, sizeof line, "%s %lld %d %s %lld %lld %lld\n", what, (long long)clock_ns(CLOCK_BOOTTIME), (int)getpid(), about, a, b, c);

	if (n <= 0 || n >= (int)sizeof line || write(ledger, line, (size_t)n) != n)
		_exit(121); /* a ledger with holes would accuse the wrong one */
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value == NULL || *value == '\0' ? "-" : value;
}

static uint32_t crc32(const char *data, size_t n)
{
	uint32_t crc = 0xffffffffu;

	for (size_t i = 0; i < n; i++) {
		crc ^= (unsigned char)data[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* hash is FNV-1a, with a seed so that one id decides several things. */
static uint64_t hash(const char *text, uint64_t seed)
{
	uint64_t h = 14695981039346656037ull ^ seed;

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211ull;
	h ^= h >> 32;
	return h * 0x9e3779b97f4a7c15ull >> 16;
}

static void sleep_until(int64_t boot)
{
	struct timespec at = {.tv_sec = boot / 1000000000LL, .tv_nsec = boot % 1000000000LL};

	clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &at, NULL); /* a signal cuts it short */
}

/* print writes all of it, or finds that nobody reads any more: then it lives on. */
static void print(const char *data, size_t n)
{
	while (n > 0 && !deaf) {
		ssize_t w = write(STDOUT_FILENO, data, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0) {
			deaf = 1;
			note("broken", errno, 0, 0);
			return;
		}
		data += w;
		n -= (size_t)w;
		bytes += w;
	}
}

static void numbered(size_t size)
{
	static char line[MOST];
	int n = snprintf(line, sizeof line, "%lld %lld %s ", lines, (long long)clock_ns(CLOCK_BOOTTIME), variable("CARILLON_RUN_ID"));
	size_t end = (size_t)n, until = size > MOST ? MOST : size;

	if (until < end + LEAST + 2)
		until = end + LEAST + 2;
	for (; end < until - LEAST - 2; end++)
		line[end] = (char)('a' + end % 26);
	line[end++] = ' ';
	snprintf(line + end, sizeof line - end, "%08x", crc32(line, end));
	line[end + LEAST] = '\n';
	print(line, end + LEAST + 1);
	if (!deaf)
		lines++;
}

static void flood(long long total, char with)
{
	static char block[BLOCK];

	for (size_t i = 0; i < BLOCK; i++)
		block[i] = with == 'y' && i % 2 == 1 ? '\n' : with;
	while (total > 0 && !deaf && !told) {
		size_t n = total < BLOCK ? (size_t)total : BLOCK;

		print(block, n);
		total -= (long long)n;
	}
}

static void garbage(void)
{
	static const char text[] = "nul \0\0 high \xff\xfe\x80 cut \xe4\xb8 surrogate \xed\xa0\x80 long \xc0\xaf \x1b[31mred\x1b[0m \x1b]0;title\x07 \r\b\x7f\n";

	print(text, sizeof text - 1);
}

/* child lives for some time on its own. Its parent's environment is not in it. */
static int child(long ms, int parent)
{
	int64_t now = clock_ns(CLOCK_BOOTTIME), end = now + ms * 1000000LL;
	long long count = 0;

	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (; now < end; now = clock_ns(CLOCK_BOOTTIME)) {
		note("alive", parent, count++, 0);
		sleep_until(now + ALIVE_MS * 1000000LL);
	}
	return 0;
}

/* leave starts this program again in a session of its own: as an orphan, or as a sibling. */
static void leave(const char *file, long ms, int quiet, int sibling)
{
	char span[32], parent[32];
	char *args[] = {"ledger", "-file", (char *)file, "-child", span, parent, about, NULL}, *none[] = {NULL};
	pid_t first;

	snprintf(span, sizeof span, "%ld", ms);
	snprintf(parent, sizeof parent, "%d", (int)getpid());
	first = sibling ? (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) : fork();
	if (first < 0)
		note("broken", errno, 0, 0);
	if (first != 0)
		return; /* it is reaped by whoever comes after us */
	setsid();
	if (!sibling && fork() != 0)
		_exit(0);
	if (quiet) {
		int null = open("/dev/null", O_RDWR);

		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
	}
	execve("/proc/self/exe", args, none);
	_exit(122);
}

static void hold_lock(const char *dir, const char *job)
{
	char path[4096];
	const char *replica = getenv("CARILLON_REPLICA");
	int fd;

	snprintf(path, sizeof path, "%s/%s%s%s", dir, job, replica == NULL ? "" : ".", replica == NULL ? "" : replica);
	fd = open(path, O_RDWR | O_CREAT, 0666);
	if (fd < 0) {
		note("broken", errno, 0, 0);
		return;
	}
	/* Children keep it with us: it is free when the last of them is gone. */
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		note("met", 0, 0, 0);
}

static void on_term(int signal)
{
	(void)signal;
	told = 1;
}

static long number(char **argv, int argc, int *i)
{
	if (++*i >= argc)
		_exit(2);
	return strtol(argv[*i], NULL, 10);
}

int main(int argc, char **argv)
{
	long least = 0, most = 0, every = 0, size = 0, code = 0, fail = 0, daemon_ms = 0, hide_ms = 0, hold_ms = 0;
	long long flood_bytes = 0, line_bytes = 0;
	int ignore = 0, trash = 0, input = 0, was_told = 0;
	const char *locks = NULL, *run = variable("CARILLON_RUN_ID");
	int64_t start = clock_ns(CLOCK_BOOTTIME), wall = clock_ns(CLOCK_REALTIME), end, print_at, beat_at, now;
	long span;

	if (argc < 3 || strcmp(argv[1], "-file") != 0)
		return 2;
	umask(0);
	ledger = open(argv[2], O_WRONLY | O_APPEND | O_CREAT, 0666);
	if (ledger < 0)
		return 120;
	if (argc == 7 && strcmp(argv[3], "-child") == 0) {
		snprintf(about, sizeof about, "%s", argv[6]);
		return child(strtol(argv[4], NULL, 10), atoi(argv[5]));
	}
	snprintf(about, sizeof about, "%s %s %s %s %s %s %s", variable("CARILLON_JOB"), run, variable("CARILLON_ATTEMPT"), variable("CARILLON_FENCE"),
		 variable("CARILLON_PLANNED_AT"), variable("CARILLON_WORKER"), variable("CARILLON_LIFE"));
	for (int i = 3; i < argc; i++) {
		const char *a = argv[i];

		if (strcmp(a, "-locks") == 0 && i + 1 < argc)
			locks = argv[++i];
		else if (strcmp(a, "-ms") == 0)
			least = number(argv, argc, &i), most = number(argv, argc, &i);
		else if (strcmp(a, "-every") == 0)
			every = number(argv, argc, &i), size = number(argv, argc, &i);
		else if (strcmp(a, "-code") == 0)
			code = number(argv, argc, &i);
		else if (strcmp(a, "-fail") == 0)
			fail = number(argv, argc, &i);
		else if (strcmp(a, "-daemon") == 0)
			daemon_ms = number(argv, argc, &i);
		else if (strcmp(a, "-hide") == 0)
			hide_ms = number(argv, argc, &i);
		else if (strcmp(a, "-hold") == 0)
			hold_ms = number(argv, argc, &i);
		else if (strcmp(a, "-flood") == 0)
			flood_bytes = number(argv, argc, &i);
		else if (strcmp(a, "-line") == 0)
			line_bytes = number(argv, argc, &i);
		else if (strcmp(a, "-ignore-term") == 0)
			ignore = 1;
		else if (strcmp(a, "-garbage") == 0)
			trash = 1;
		else if (strcmp(a, "-stdin") == 0)
			input = 1;
		else
			return 2;
	}
	span = least + (most > least ? (long)(hash(run, 1) % (uint64_t)(most - least + 1)) : 0);
	note("start", span, wall, start);
	if (locks != NULL)
		hold_lock(locks, variable("CARILLON_JOB"));
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_term}, NULL);
	if (daemon_ms > 0)
		leave(argv[2], daemon_ms, 1, 0);
	if (hide_ms > 0)
		leave(argv[2], hide_ms, 1, 1);
	if (hold_ms > 0)
		leave(argv[2], hold_ms, 0, 0);
	if (input) {
		char buffer[4096];
		ssize_t n;

		while ((n = read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
			print(buffer, (size_t)n);
		if (n < 0)
			note("broken", errno, 0, 0);
	}
	if (trash)
		garbage();
	if (line_bytes > 0) {
		flood(line_bytes, 'x');
		print("\n", 1);
	}
	flood(flood_bytes, 'y');
	end = start + span * 1000000LL;
	print_at = start;
	beat_at = start + BEAT_MS * 1000000LL;
	for (;;) {
		if (told && !was_told) {
			was_told = 1;
			note("term", lines, bytes, 0);
			if (!ignore) { /* die of it, as a command does that does not care */
				signal(SIGTERM, SIG_DFL);
				raise(SIGTERM);
			}
		}
		now = clock_ns(CLOCK_BOOTTIME);
		while (every > 0 && print_at <= now && print_at < end) {
			numbered((size_t)size);
			print_at += every * 1000000LL;
		}
		if (beat_at <= now) {
			note("out", lines, bytes, 0);
			beat_at = now + BEAT_MS * 1000000LL;
		}
		if (now >= end)
			break;
		now = every > 0 && print_at < end ? print_at : end;
		sleep_until(now < beat_at ? now : beat_at);
	}
	if (fail > 0 && hash(run, 2) % 100 < (uint64_t)fail)
		code = 1;
	note("end", code, lines, bytes);
	return (int)code;
}
