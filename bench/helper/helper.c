/*
 * helper is the command of the benchmark's jobs. It appends one line of fixed size
 * to the file that it is told of:
 *
 *     job planned-time run attempt worker nanoseconds
 *
 * where the last is its own wall clock, read before anything else. "helper FILE hold
 * SECONDS" then locks a file of its replica and sleeps: the command of a daemon job. If
 * another process holds the lock, a line with the job "overlap" follows. One write to a
 * file opened with O_APPEND is whole, whoever else writes. It shares nothing with
 * what it measures, and is linked statically so that it starts within a millisecond.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 192 };

static char *field(char *to, char *end, const char *text, const char *otherwise)
{
	if (text == NULL || *text == '\0')
		text = otherwise;
	while (*text != '\0' && to < end - 1)
		*to++ = *text++;
	*to++ = ' ';
	return to;
}

/* hold locks the file of a replica. It reports whether another process holds it. */
static int hold(const char *file)
{
	char path[4096];
	const char *job = getenv("CARILLON_JOB"), *replica = getenv("CARILLON_REPLICA");
	int fd, n = snprintf(path, sizeof path, "%s.%s.%s", file, job == NULL ? "-" : job, replica == NULL ? "-" : replica);

	if (n < 0 || n >= (int)sizeof path)
		return 1;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0;
}

/* replace writes another job in place of the one at the start of a line. */
static void replace(char *line, const char *job)
{
	size_t old = strcspn(line, " "), new = strlen(job);

	memmove(line + new, line + old, LINE - 2 - (old > new ? old : new));
	memcpy(line, job, new);
}

int main(int argc, char **argv)
{
	struct timespec now;
	char line[LINE], digits[24], *end = line + LINE - 32, *to = line, *d = digits + sizeof digits;
	unsigned long long ns;
	int fd, held;

	clock_gettime(CLOCK_REALTIME, &now);
	if (argc < 2)
		return 2;
	memset(line, ' ', sizeof line);
	/* Another scheduler does not set the variables; its job is an argument. */
	held = argc > 3 && strcmp(argv[2], "hold") == 0;
	to = field(to, end, getenv("CARILLON_JOB"), argc > 2 ? argv[2] : "-");
	to = field(to, end, getenv("CARILLON_PLANNED_AT"), "1970-01-01T00:00:00Z");
	to = field(to, end, getenv("CARILLON_RUN_ID"), "-");
	to = field(to, end, getenv("CARILLON_ATTEMPT"), "1");
	to = field(to, end, getenv("CARILLON_WORKER"), "-");
	ns = (unsigned long long)now.tv_sec * 1000000000ULL + (unsigned long long)now.tv_nsec;
	*--d = '\0';
	do {
		*--d = (char)('0' + ns % 10);
		ns /= 10;
	} while (ns > 0);
	memcpy(to, d, strlen(d));
	line[LINE - 1] = '\n';
	fd = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0600);
	if (fd < 0 || write(fd, line, LINE) != LINE)
		return 3;
	if (held) {
		if (hold(argv[1])) {
			replace(line, "overlap");
			if (write(fd, line, LINE) != LINE)
				return 3;
		}
		sleep((unsigned)atoi(argv[3]));
	}
	return 0;
}
