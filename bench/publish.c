/*
 * publish DIRECTORY COUNT FIRST FILE: publishes the bytes of FILE as DIRECTORY/turns/<number>.json, COUNT times from
 * number FIRST on, with the least system calls that are durable: open, write, fsync, link, unlink, fsync of the directory.
 * Prints the nanoseconds that this took.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int must(int result, const char *what) {
  if (result < 0) err(1, "%s", what);
  return result;
}

int main(int argc, char **argv) {
  static char bytes[1 << 20], turns[4096], temporary[4096], path[4096];
  struct timespec start, end;
  if (argc != 5) return 2;
  ssize_t size = read(must(open(argv[4], O_RDONLY), argv[4]), bytes, sizeof bytes);
  snprintf(turns, sizeof turns, "%s/turns", argv[1]);
  int directory = must(open(turns, O_RDONLY | O_DIRECTORY), turns);
  long first = atol(argv[3]), last = first + atol(argv[2]) - 1;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long number = first; number <= last; number++) {
    snprintf(temporary, sizeof temporary, "%s/.tmp-%ld", argv[1], number);
    snprintf(path, sizeof path, "%s/turns/%06ld.json", argv[1], number);
    int file = must(open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0600), temporary);
    if (write(file, bytes, size) != size) err(1, "write");
    must(fsync(file), "fsync");
    must(close(file), "close");
    must(link(temporary, path), path);
    must(unlink(temporary), "unlink");
    must(fsync(directory), "fsync of the directory");
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("%lld\n", (end.tv_sec - start.tv_sec) * 1000000000LL + (end.tv_nsec - start.tv_nsec));
  return 0;
}
