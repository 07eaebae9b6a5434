/*
 * The least that a durable publish can cost: open, write, fsync, link, unlink, fsync of the directory.
 *
 *     publish DIRECTORY COUNT FIRST FILE
 *
 * publishes the bytes of FILE as DIRECTORY/turns/<number>.json, COUNT times from number FIRST on, and prints how
 * many nanoseconds that took. Reading FILE and opening the directory are not counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_PATH 4096

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static long long now(void) {
  struct timespec time;
  check(clock_gettime(CLOCK_MONOTONIC, &time) == 0, "clock_gettime");
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void write_all(int file, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t written = write(file, bytes, size);
    check(written > 0, "write");
    bytes += written;
    size -= (size_t)written;
  }
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const char *directory = argv[1];
  long count = atol(argv[2]);
  long first = atol(argv[3]);

  int source = open(argv[4], O_RDONLY);
  check(source >= 0, argv[4]);
  struct stat facts;
  check(fstat(source, &facts) == 0, "fstat");
  size_t size = (size_t)facts.st_size;
  char *bytes = malloc(size);
  check(bytes != NULL && read(source, bytes, size) == (ssize_t)size, "read");

  char turns[MAX_PATH], temporary[MAX_PATH], path[MAX_PATH];
  snprintf(turns, sizeof turns, "%s/turns", directory);
  int names = open(turns, O_RDONLY | O_DIRECTORY);
  check(names >= 0, turns);

  long long start = now();
  for (long number = first; number < first + count; number++) {
    snprintf(temporary, sizeof temporary, "%s/.tmp-%ld", directory, number);
    snprintf(path, sizeof path, "%s/turns/%06ld.json", directory, number);
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0600);
    check(file >= 0, temporary);
    write_all(file, bytes, size);
    check(fsync(file) == 0, "fsync");
    check(close(file) == 0, "close");
    check(link(temporary, path) == 0, path);
    check(unlink(temporary) == 0, "unlink");
    check(fsync(names) == 0, "fsync of the directory");
  }
  printf("%lld\n", now() - start);
  return 0;
}
