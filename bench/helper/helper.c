/*
 * helper is the command of the benchmark's jobs. It appends one line of fixed size
 * to the file that it is told of:
 *
 *     job planned-time run attempt worker nanoseconds
 *
 * where the last is its own wall clock, read before anything else. One write to a
 * file opened with O_APPEND is whole, whoever else writes. It shares nothing with
 * what it measures, and is linked statically so that it starts within a millisecond.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv)
{
	struct timespec now;
	char line[LINE], digits[24], *end = line + LINE - 32, *to = line, *d = digits + sizeof digits;
	unsigned long long ns;
	int fd;

	clock_gettime(CLOCK_REALTIME, &now);
	if (argc < 2)
		return 2;
	memset(line, ' ', sizeof line);
	/* Another scheduler does not set the variables; its job is an argument. */
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
	return 0;
}
