/*
 * The rig's upstream: answers chat-completions and messages, whole and streamed, whole responses, and streams of Google and
 * of Bedrock's Converse, faster than any gateway asks.
 *
 *   upstream PORT
 *
 * A model named `bench-CHUNKS-MICROSECONDS` sets how many chunks a stream has and how long it waits between two. Each
 * chunk says in its text when it was sent (`t=` and nanoseconds). GET answers with what was counted.
 */
#include "common.h"

enum format { CHAT, MESSAGES, GEMINI, CONVERSE };

struct connection {
  int fd;
  struct buffer in, out;
  size_t head; /* bytes of the request's head; 0 while it is not whole */
  size_t body;
  enum format format;
  bool streaming, closed;
  long chunks, sent;
  int64_t interval, due;
  size_t slot; /* place in the heap of streams; 0: none */
  struct connection *next_free;
};

static int epoll_fd, listener;
static long accepted, open_now, calls, streams, streaming_now, peak, cut;

/* Streams by the time of their next chunk: a binary heap from index 1. */
static struct connection **heap;
static size_t heap_length, heap_room;

static void heap_put(size_t at, struct connection *c) {
  heap[at] = c;
  c->slot = at;
}

static void heap_up(size_t at) {
  struct connection *c = heap[at];
  for (; at > 1 && heap[at / 2]->due > c->due; at /= 2) heap_put(at, heap[at / 2]);
  heap_put(at, c);
}

static void heap_down(size_t at) {
  struct connection *c = heap[at];
  for (;;) {
    size_t child = at * 2;
    if (child > heap_length) break;
    if (child < heap_length && heap[child + 1]->due < heap[child]->due) child++;
    if (heap[child]->due >= c->due) break;
    heap_put(at, heap[child]);
    at = child;
  }
  heap_put(at, c);
}

static void heap_add(struct connection *c) {
  if (heap_length + 2 > heap_room) {
    heap_room = heap_room ? heap_room * 2 : 1024;
    heap = realloc(heap, heap_room * sizeof *heap);
  }
  heap[++heap_length] = c;
  heap_up(heap_length);
}

static void heap_remove(struct connection *c) {
  size_t at = c->slot;
  if (!at) return;
  c->slot = 0;
  struct connection *last = heap[heap_length--];
  if (last == c) return;
  heap_put(at, last);
  heap_up(at);
  heap_down(last->slot);
}

/* Answers that are always the same. */
static char chat_answer[2048], messages_answer[2048], responses_answer[2048];
static const char STREAM_HEAD[] =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n"
    "x-request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n";

static const char EVENT_STREAM_HEAD[] =
    "HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\nx-amzn-requestid: req_bench\r\n"
    "transfer-encoding: chunked\r\n\r\n";

static void make_answers(void) {
  char text[700], body[1600];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  const char head[] =
      "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\ncontent-length: %d\r\n\r\n%s";
  int length = snprintf(body, sizeof body,
                        "{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":"
                        "\"bench\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"%s\","
                        "\"refusal\":null},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":"
                        "120,\"completion_tokens\":140,\"total_tokens\":260,\"prompt_tokens_details\":"
                        "{\"cached_tokens\":64},\"completion_tokens_details\":{\"reasoning_tokens\":0}}}",
                        text);
  snprintf(chat_answer, sizeof chat_answer, head, length, body);
  length = snprintf(body, sizeof body,
                    "{\"id\":\"msg_bench\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"bench\",\"content\":"
                    "[{\"type\":\"text\",\"text\":\"%s\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,"
                    "\"usage\":{\"input_tokens\":56,\"cache_read_input_tokens\":64,\"output_tokens\":140}}",
                    text);
  snprintf(messages_answer, sizeof messages_answer, head, length, body);
  length = snprintf(body, sizeof body,
                    "{\"id\":\"resp_bench\",\"object\":\"response\",\"created_at\":1700000000,\"status\":\"completed\","
                    "\"model\":\"bench\",\"output\":[{\"id\":\"msg_bench\",\"type\":\"message\",\"role\":\"assistant\","
                    "\"status\":\"completed\",\"content\":[{\"type\":\"output_text\",\"text\":\"%s\",\"annotations\":[]}]}],"
                    "\"store\":false,\"usage\":{\"input_tokens\":120,\"input_tokens_details\":{\"cached_tokens\":64},"
                    "\"output_tokens\":140,\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":260}}",
                    text);
  snprintf(responses_answer, sizeof responses_answer, head, length, body);
}

static void put_chunk(struct buffer *out, const char *bytes, int length) {
  char size[16];
  buffer_append(out, size, snprintf(size, sizeof size, "%x\r\n", length));
  buffer_append(out, bytes, length);
  buffer_append(out, "\r\n", 2);
}

static void put_event(struct buffer *out, const char *event) { put_chunk(out, event, strlen(event)); }

/* The checksum of AWS's event stream: CRC-32, as in zlib. */
static uint32_t crc32_of(const unsigned char *bytes, size_t length) {
  static uint32_t table[256];
  if (!table[1])
    for (uint32_t n = 0; n < 256; n++) {
      uint32_t value = n;
      for (int bit = 0; bit < 8; bit++) value = value & 1 ? value >> 1 ^ 0xedb88320 : value >> 1;
      table[n] = value;
    }
  uint32_t crc = 0xffffffff;
  for (size_t at = 0; at < length; at++) crc = crc >> 8 ^ table[(crc ^ bytes[at]) & 255];
  return ~crc;
}

static unsigned char *put_header(unsigned char *at, const char *name, const char *value) {
  size_t length = strlen(value);
  *at++ = strlen(name);
  at = (unsigned char *)stpcpy((char *)at, name);
  *at++ = 7; /* a text */
  *at++ = length >> 8, *at++ = length;
  return (unsigned char *)stpcpy((char *)at, value);
}

static void put_number(unsigned char *at, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) *at++ = value >> shift;
}

/* One message of an event stream as a chunk. */
static void put_message(struct buffer *out, const char *event, const char *payload) {
  unsigned char message[1024], *at = message + 12;
  at = put_header(at, ":event-type", event);
  at = put_header(at, ":content-type", "application/json");
  at = put_header(at, ":message-type", "event");
  size_t headers = at - message - 12;
  at = (unsigned char *)stpcpy((char *)at, payload);
  put_number(message, at - message + 4);
  put_number(message + 4, headers);
  put_number(message + 8, crc32_of(message, 8));
  put_number(at, crc32_of(message, at - message));
  put_chunk(out, (char *)message, at + 4 - message);
}

static void put_start(struct connection *c) {
  const char *head = c->format == CONVERSE ? EVENT_STREAM_HEAD : STREAM_HEAD;
  buffer_append(&c->out, head, strlen(head));
  switch (c->format) {
    case CHAT:
      return put_event(&c->out,
                       "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
                       "\"model\":\"bench\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":"
                       "\"\"},\"finish_reason\":null}]}\n\n");
    case GEMINI:
      return;
    case CONVERSE:
      return put_message(&c->out, "messageStart", "{\"role\":\"assistant\"}");
    case MESSAGES:
      break;
  }
  put_event(&c->out,
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_bench\",\"type\":"
            "\"message\",\"role\":\"assistant\",\"model\":\"bench\",\"content\":[],\"stop_reason\":null,"
            "\"stop_sequence\":null,\"usage\":{\"input_tokens\":56,\"cache_read_input_tokens\":64,\"output_tokens\":1}}}\n\n"
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
            "{\"type\":\"text\",\"text\":\"\"}}\n\n");
}

/* The forms of one piece of text, about 200 bytes as an event. */
static const char *PIECES[] = {
    [CHAT] = "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":"
             "\"bench\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" t=%lld and more\"},\"finish_reason\":"
             "null}]}\n\n",
    [MESSAGES] = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                 "\"text_delta\",\"text\":\" t=%lld and a few words more, as a model says\"}}\n\n",
    [GEMINI] = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\" t=%lld and more\"}],\"role\":\"model\"},"
               "\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":10,\"totalTokenCount\":20},\"modelVersion\":"
               "\"bench\",\"responseId\":\"bench\"}\r\n\r\n",
    [CONVERSE] = "{\"contentBlockIndex\":0,\"delta\":{\"text\":\" t=%lld and a few words more\"},\"p\":\"abcdefgh\"}",
};

static void put_piece(struct connection *c) {
  char event[512];
  int length = snprintf(event, sizeof event, PIECES[c->format], (long long)now_ns());
  if (c->format == CONVERSE) put_message(&c->out, "contentBlockDelta", event);
  else put_chunk(&c->out, event, length);
}

static const char CHAT_END[] =
    "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"bench\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"bench\",\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":200,"
    "\"total_tokens\":300,\"prompt_tokens_details\":{\"cached_tokens\":64}}}\n\ndata: [DONE]\n\n";
static const char MESSAGES_END[] =
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\","
    "\"stop_sequence\":null},\"usage\":{\"output_tokens\":200}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
static const char GEMINI_END[] =
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"finishReason\":\"STOP\","
    "\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":200,\"totalTokenCount\":210},"
    "\"modelVersion\":\"bench\",\"responseId\":\"bench\"}\r\n\r\n";

static void put_end(struct connection *c) {
  switch (c->format) {
    case CHAT:
      put_event(&c->out, CHAT_END);
      break;
    case MESSAGES:
      put_event(&c->out, MESSAGES_END);
      break;
    case GEMINI:
      put_event(&c->out, GEMINI_END);
      break;
    case CONVERSE:
      put_message(&c->out, "contentBlockStop", "{\"contentBlockIndex\":0}");
      put_message(&c->out, "messageStop", "{\"stopReason\":\"end_turn\"}");
      put_message(&c->out, "metadata",
                  "{\"usage\":{\"inputTokens\":10,\"outputTokens\":200,\"totalTokens\":210},"
                  "\"metrics\":{\"latencyMs\":1}}");
  }
  buffer_append(&c->out, "0\r\n\r\n", 5);
}

static void watch(struct connection *c, bool writable) {
  struct epoll_event event = {.events = EPOLLIN | (writable ? EPOLLOUT : 0), .data.ptr = c};
  epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &event);
}

static void stop_streaming(struct connection *c) {
  if (!c->streaming) return;
  c->streaming = false;
  streaming_now--;
  heap_remove(c);
}

static void drop(struct connection *c) {
  if (c->closed) return;
  if (c->streaming) cut++;
  stop_streaming(c);
  close(c->fd);
  c->closed = true;
  open_now--;
}

static void flush(struct connection *c) {
  size_t done = 0;
  while (done < c->out.length) {
    ssize_t wrote = send(c->fd, c->out.bytes + done, c->out.length - done, MSG_NOSIGNAL);
    if (wrote < 0 && errno == EAGAIN) break;
    if (wrote <= 0) return drop(c);
    done += wrote;
  }
  bool was_whole = done == c->out.length;
  buffer_drop(&c->out, done);
  watch(c, !was_whole);
}

/* Looks for something in the first and the last part of a body: nobody hides it in the middle. */
static const char *find(const char *body, size_t length, const char *what) {
  size_t part = length < 600 ? length : 600;
  const char *found = memmem(body, part, what, strlen(what));
  return found || length <= part ? found : memmem(body + length - part, part, what, strlen(what));
}

static void answer_stats(struct connection *c) {
  char body[256], answer[512];
  int length = snprintf(body, sizeof body,
                        "{\"accepted\":%ld,\"open\":%ld,\"calls\":%ld,\"streams\":%ld,\"streaming\":%ld,\"peak\":%ld,"
                        "\"cut\":%ld}",
                        accepted, open_now, calls, streams, streaming_now, peak, cut);
  length = snprintf(answer, sizeof answer,
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s", length, body);
  buffer_append(&c->out, answer, length);
}

/* Whether the path of a request holds something. */
static bool names(struct connection *c, const char *what) {
  const char *end = memchr(c->in.bytes, '\r', c->head);
  return memmem(c->in.bytes, end - c->in.bytes, what, strlen(what)) != NULL;
}

static void answer(struct connection *c) {
  const char *head = c->in.bytes, *body = head + c->head;
  if (!memcmp(head, "GET ", 4)) return answer_stats(c);
  c->format = names(c, "/messages")                 ? MESSAGES
              : names(c, ":streamGenerateContent")  ? GEMINI
              : names(c, "/converse-stream")        ? CONVERSE
                                                    : CHAT;
  if (c->format < GEMINI && !find(body, c->body, "\"stream\":true")) {
    const char *text = c->format == MESSAGES ? messages_answer : names(c, "/responses") ? responses_answer : chat_answer;
    buffer_append(&c->out, text, strlen(text));
    calls++;
    return;
  }
  c->chunks = 200, c->interval = 10000000, c->sent = 0;
  const char *model = c->format < GEMINI ? find(body, c->body, "bench-") : memmem(head, c->head, "bench-", 6);
  if (model) {
    char *rest;
    c->chunks = strtol(model + 6, &rest, 10);
    if (*rest == '-') c->interval = strtoll(rest + 1, NULL, 10) * 1000;
  }
  streams++;
  if (++streaming_now > peak) peak = streaming_now;
  c->streaming = true;
  put_start(c);
  c->due = now_ns() + c->interval;
  heap_add(c);
}

/* Every whole request that has come is answered, one after the other. */
static void serve(struct connection *c) {
  while (!c->streaming && !c->closed && c->in.length > 0) {
    if (!c->head) {
      char *end = memmem(c->in.bytes, c->in.length, "\r\n\r\n", 4);
      if (!end) return;
      c->head = end - c->in.bytes + 4;
      c->body = 0;
      for (char *line = c->in.bytes; line < end; line = (char *)memchr(line, '\n', end + 2 - line) + 1)
        if (!strncasecmp(line, "content-length:", 15)) c->body = strtoul(line + 15, NULL, 10);
    }
    if (c->in.length < c->head + c->body) return;
    answer(c);
    buffer_drop(&c->in, c->head + c->body);
    c->head = 0;
    flush(c);
  }
}

static void receive(struct connection *c) {
  static char bytes[256 * 1024];
  for (;;) {
    ssize_t got = recv(c->fd, bytes, sizeof bytes, 0);
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) return drop(c);
    buffer_append(&c->in, bytes, got);
    if (got < (ssize_t)sizeof bytes) break;
  }
  serve(c);
}

/* Sends what is due; a stream that fell behind does not hurry to catch up. */
static void tick(struct connection *c, int64_t now) {
  if (c->sent++ < c->chunks) {
    put_piece(c);
    c->due = now + c->interval;
    heap_down(c->slot);
    return flush(c);
  }
  put_end(c);
  stop_streaming(c);
  flush(c);
  serve(c);
}

static struct connection *free_list;

static void welcome(void) {
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) return;
    no_delay(fd);
    struct connection *c = free_list;
    if (c) free_list = c->next_free;
    else c = calloc(1, sizeof *c);
    struct buffer in = c->in, out = c->out;
    in.length = out.length = 0;
    *c = (struct connection){.fd = fd, .in = in, .out = out};
    accepted++, open_now++;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
  }
}

static int wait_for_events(struct epoll_event *events, int most) {
  if (heap_length == 0) return epoll_wait(epoll_fd, events, most, -1);
  int64_t left = heap[1]->due - now_ns();
  return epoll_wait(epoll_fd, events, most, left <= 0 ? 0 : (int)(left / 1000000 + (left % 1000000 > 0)));
}

int main(int count, char **words) {
  signal(SIGPIPE, SIG_IGN);
  make_answers();
  struct sockaddr_in address = loopback(count > 1 ? atoi(words[1]) : 9000);
  listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  int one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 8192)) {
    perror("upstream");
    return 1;
  }
  epoll_fd = epoll_create1(0);
  struct epoll_event first = {.events = EPOLLIN};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &first);
  static struct epoll_event events[1024];
  for (;;) {
    int ready = wait_for_events(events, 1024);
    for (int at = 0; at < ready; at++) {
      struct connection *c = events[at].data.ptr;
      if (!c) welcome();
      else if (!c->closed && events[at].events & EPOLLOUT) flush(c);
      if (c && !c->closed && events[at].events & ~EPOLLOUT) receive(c);
      if (c && c->closed) c->next_free = free_list, free_list = c;
    }
    int64_t now = now_ns();
    while (heap_length > 0 && heap[1]->due <= now) {
      struct connection *c = heap[1];
      tick(c, now);
      if (c->closed) c->next_free = free_list, free_list = c;
    }
  }
}
