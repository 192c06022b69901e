/* What upstream and load share: a clock, a growing buffer, a histogram. */
#ifndef COMMON_H
#define COMMON_H

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds of the monotonic clock, the same for all processes of the machine. */
static inline int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

struct buffer {
  char *bytes;
  size_t length, room;
};

static inline void buffer_append(struct buffer *b, const void *bytes, size_t length) {
  if (b->length + length > b->room) {
    b->room = (b->length + length) * 2;
    b->bytes = realloc(b->bytes, b->room);
    if (!b->bytes) abort();
  }
  memcpy(b->bytes + b->length, bytes, length);
  b->length += length;
}

static inline void buffer_drop(struct buffer *b, size_t length) {
  memmove(b->bytes, b->bytes + length, b->length - length);
  b->length -= length;
}

/* Times in steps of one part in 64: as exact at a microsecond as at a second. */
#define STEPS 64
#define CELLS (64 * STEPS)

struct histogram {
  uint32_t cells[CELLS];
  uint64_t count;
};

static inline int histogram_cell(int64_t ns) {
  if (ns < STEPS) return ns < 0 ? 0 : (int)ns;
  int shift = 63 - __builtin_clzll((uint64_t)ns) - 6;
  return (shift + 1) * STEPS + (int)((ns >> shift) & (STEPS - 1));
}

static inline void histogram_add(struct histogram *h, int64_t ns) {
  h->cells[histogram_cell(ns)]++;
  h->count++;
}

/* Microseconds below which that share of all times lies. */
static inline double histogram_quantile(const struct histogram *h, double share) {
  uint64_t wanted = (uint64_t)(share * (double)h->count), seen = 0;
  for (int cell = 0; cell < CELLS; cell++) {
    seen += h->cells[cell];
    if (seen <= wanted) continue;
    if (cell < STEPS) return cell / 1000.0;
    int shift = cell / STEPS - 1;
    return (double)((int64_t)(STEPS + cell % STEPS) << shift) / 1000.0;
  }
  return 0;
}

static inline void no_delay(int fd) {
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static inline struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

#endif
