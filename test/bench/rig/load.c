/*
 * The rig's clients, one thread for thousands of them.
 *
 *   load calls   PORT CONNECTIONS SECONDS BODY PATH KEY
 *   load streams PORT CONNECTIONS SECONDS BODY PATH KEY [ABORTED%]
 *
 * Each connection asks again as soon as it was answered. BODY is a file. Prints one line of JSON: what was answered, what
 * failed, and times in microseconds. Of streams the delay of each chunk is measured from the time it was sent at, which
 * stands in its text (`t=`); ABORTED per cent of them are left at a random chunk, by closing the connection.
 */
#include "common.h"

struct client {
  int fd;
  bool connected, answering;
  size_t sent;
  int64_t asked;
  /* Of the running answer. */
  struct buffer in;
  size_t expected; /* bytes of a whole answer of known length; 0: chunked */
  bool headed, ok, first;
  long chunks, leave_at;
  char tail[5];
};

static bool streaming;
static int port, aborted_share;
static char *request;
static size_t request_length;
static int epoll_fd;
static int64_t until;
static long answered, failed, left, chunks;
static struct histogram latency, first_chunk, delay;

static void connect_client(struct client *c) {
  struct buffer in = c->in;
  in.length = 0;
  *c = (struct client){.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), .in = in};
  no_delay(c->fd);
  struct sockaddr_in address = loopback(port);
  if (connect(c->fd, (struct sockaddr *)&address, sizeof address) && errno != EINPROGRESS) {
    perror("load: connect");
    exit(1);
  }
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = c};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &event);
}

static void watch(struct client *c, bool writable) {
  struct epoll_event event = {.events = EPOLLIN | (writable ? EPOLLOUT : 0), .data.ptr = c};
  epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &event);
}

static void reconnect(struct client *c) {
  close(c->fd);
  connect_client(c);
}

static void fail(struct client *c) {
  failed++;
  reconnect(c);
}

static void send_more(struct client *c) {
  while (c->sent < request_length) {
    ssize_t wrote = send(c->fd, request + c->sent, request_length - c->sent, MSG_NOSIGNAL);
    if (wrote < 0 && errno == EAGAIN) return watch(c, true);
    if (wrote <= 0) return fail(c);
    c->sent += wrote;
  }
  watch(c, false);
}

static void ask(struct client *c) {
  c->answering = true;
  c->sent = c->in.length = c->expected = c->chunks = 0;
  c->headed = c->ok = c->first = false;
  memset(c->tail, 0, sizeof c->tail);
  c->leave_at = streaming && rand() % 100 < aborted_share ? 1 + rand() % 100 : -1;
  c->asked = now_ns();
  send_more(c);
}

/* The head of the answer, once it is there: 200 or not, and how long. */
static void read_head(struct client *c) {
  char *end = memmem(c->in.bytes, c->in.length, "\r\n\r\n", 4);
  if (!end) return;
  c->headed = true;
  c->ok = c->in.length > 12 && !memcmp(c->in.bytes + 9, "200", 3);
  for (char *line = c->in.bytes; line < end; line = (char *)memchr(line, '\n', end + 2 - line) + 1)
    if (!strncasecmp(line, "content-length:", 15))
      c->expected = end - c->in.bytes + 4 + strtoul(line + 15, NULL, 10);
}

static void read_chunks(struct client *c, const char *bytes, size_t length) {
  int64_t now = now_ns();
  const char *end = bytes + length;
  for (const char *at = bytes; (at = memmem(at, end - at, "t=", 2)); at += 2) {
    int64_t sent = strtoll(at + 2, NULL, 10);
    // A number cut in two by the network is left out; it comes seldom.
    if (sent <= 0 || sent > now || now - sent > 60000000000LL) continue;
    if (!c->first) {
      c->first = true;
      histogram_add(&first_chunk, now - c->asked);
    }
    histogram_add(&delay, now - sent);
    chunks++, c->chunks++;
  }
}

static void keep_tail(struct client *c, const char *bytes, size_t length) {
  size_t fresh = length < 5 ? length : 5;
  memmove(c->tail, c->tail + fresh, 5 - fresh);
  memcpy(c->tail + 5 - fresh, bytes + length - fresh, fresh);
}

static bool is_whole(const struct client *c) {
  if (!c->headed) return false;
  return c->expected ? c->in.length >= c->expected : !memcmp(c->tail, "0\r\n\r\n", 5);
}

static void receive(struct client *c) {
  static char bytes[256 * 1024];
  for (;;) {
    ssize_t got = recv(c->fd, bytes, sizeof bytes, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0 || !c->answering) return fail(c);
    if (!c->headed || c->expected) buffer_append(&c->in, bytes, got);
    if (!c->headed) read_head(c);
    if (streaming) read_chunks(c, bytes, got);
    keep_tail(c, bytes, got);
    if (c->leave_at >= 0 && c->chunks >= c->leave_at) {
      left++;
      return reconnect(c);
    }
    if (!is_whole(c)) continue;
    if (!c->ok) return fail(c);
    answered++;
    histogram_add(&latency, now_ns() - c->asked);
    c->answering = false;
    if (now_ns() < until) ask(c);
    return;
  }
}

static void make_request(const char *file, const char *path, const char *key) {
  FILE *body = fopen(file, "rb");
  if (!body) {
    perror(file);
    exit(1);
  }
  struct buffer all = {0};
  static char piece[65536];
  for (size_t got; (got = fread(piece, 1, sizeof piece, body)) > 0;) buffer_append(&all, piece, got);
  fclose(body);
  char head[512];
  int length = snprintf(head, sizeof head,
                        "POST %s HTTP/1.1\r\nhost: 127.0.0.1:%d\r\ncontent-type: application/json\r\n"
                        "authorization: Bearer %s\r\ncontent-length: %zu\r\n\r\n",
                        path, port, key, all.length);
  request_length = length + all.length;
  request = malloc(request_length);
  memcpy(request, head, length);
  memcpy(request + length, all.bytes, all.length);
}

int main(int count, char **words) {
  if (count < 8) {
    fprintf(stderr, "load calls|streams PORT CONNECTIONS SECONDS BODY PATH KEY [ABORTED%%]\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  streaming = !strcmp(words[1], "streams");
  port = atoi(words[2]);
  int connections = atoi(words[3]);
  double seconds = atof(words[4]);
  make_request(words[5], words[6], words[7]);
  aborted_share = count > 8 ? atoi(words[8]) : 0;
  epoll_fd = epoll_create1(0);
  int64_t began = now_ns();
  until = began + (int64_t)(seconds * 1e9);
  struct client *clients = calloc(connections, sizeof *clients);
  for (int at = 0; at < connections; at++) connect_client(&clients[at]);
  static struct epoll_event events[1024];
  while (now_ns() < until) {
    int ready = epoll_wait(epoll_fd, events, 1024, 100);
    for (int at = 0; at < ready; at++) {
      struct client *c = events[at].data.ptr;
      if (events[at].events & (EPOLLERR | EPOLLHUP)) {
        fail(c);
        continue;
      }
      if (events[at].events & EPOLLOUT) {
        if (c->connected) send_more(c);
        else c->connected = true, ask(c);
      }
      if (events[at].events & EPOLLIN) receive(c);
    }
  }
  double elapsed = (now_ns() - began) / 1e9;
  printf("{\"seconds\":%.3f,\"answered\":%ld,\"failed\":%ld,\"left\":%ld,\"chunks\":%ld,\"p50\":%.1f,\"p99\":%.1f,"
         "\"firstP50\":%.1f,\"firstP99\":%.1f,\"delayP50\":%.1f,\"delayP99\":%.1f}\n",
         elapsed, answered, failed, left, chunks, histogram_quantile(&latency, 0.5), histogram_quantile(&latency, 0.99),
         histogram_quantile(&first_chunk, 0.5), histogram_quantile(&first_chunk, 0.99), histogram_quantile(&delay, 0.5),
         histogram_quantile(&delay, 0.99));
  return 0;
}
