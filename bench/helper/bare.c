/*
 * bare starts a command as fast as this machine can: vfork and exec by a few
 * threads, each of which waits for what it started. It is what a scheduler is
 * measured against.
 *
 *     bare rate  THREADS SECONDS COMMAND...   prints the runs of a second
 *     bare burst THREADS COUNT   COMMAND...   starts COUNT at the next full second, a
 *                                             few milliseconds into it at most, with
 *                                             that second as CARILLON_PLANNED_AT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char **command;
static atomic_long left, done;
static atomic_int over;
/* As many variables as a command gets from a scheduler. */
static char planned[64] = "CARILLON_PLANNED_AT=-";
static char *environment[] = { planned, "CARILLON_JOB=bare", "CARILLON_RUN_ID=bare.0.1", "CARILLON_ATTEMPT=1", "CARILLON_WORKER=bare",
	"CARILLON_LIFE=bare", "CARILLON_FENCE=1", "CARILLON_PREVIOUS_STATUS=succeeded", "PATH=/usr/local/bin:/usr/bin:/bin",
	"HOME=/", "USER=bare", "LOGNAME=bare", "SHELL=/bin/sh", "LANG=C.UTF-8", "TZ=UTC", NULL };

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *starter(void *unused)
{
	(void)unused;
	while (!atomic_load(&over) && atomic_fetch_sub(&left, 1) > 0) {
		pid_t pid;
		int status;
		int err = posix_spawn(&pid, command[0], NULL, NULL, command, environment);
		if (err != 0) {
			fprintf(stderr, "bare: %s: %s\n", command[0], strerror(err));
			exit(1);
		}
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (status != 0) {
			fprintf(stderr, "bare: %s ended with status %d\n", command[0], status);
			exit(1);
		}
		atomic_fetch_add(&done, 1);
	}
	return NULL;
}

/* until_second sleeps until the next full second that is a while away. */
static void until_second(void)
{
	struct timespec t;
	struct tm utc;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += t.tv_nsec > 800000000L ? 2 : 1;
	t.tv_nsec = 0;
	gmtime_r(&t.tv_sec, &utc);
	strftime(planned, sizeof planned, "CARILLON_PLANNED_AT=%Y-%m-%dT%H:%M:%SZ", &utc);
	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int n, burst;
	double amount, began;

	if (argc < 5 || (n = atoi(argv[2])) < 1 || n > 64 || (amount = atof(argv[3])) <= 0) {
		fprintf(stderr, "usage: bare rate|burst THREADS SECONDS|COUNT COMMAND...\n");
		return 2;
	}
	command = argv + 4;
	burst = strcmp(argv[1], "burst") == 0;
	atomic_store(&left, burst ? (long)amount : 1000000000L);
	if (burst)
		until_second();
	began = seconds();
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, starter, NULL) != 0)
			return 1;
	if (!burst) {
		struct timespec nap = { (time_t)amount, (long)((amount - (double)(time_t)amount) * 1e9) };
		nanosleep(&nap, NULL);
		atomic_store(&over, 1);
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%.1f\n", (double)atomic_load(&done) / (seconds() - began));
	return 0;
}
