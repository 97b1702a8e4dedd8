/*
 * A fake API server without a thread: the test takes the requests one by one and answers them at
 * once, late, by halves or never. Plain HTTP/1.1 on a loopback address. Every wait ends after a
 * minute and then fails the test.
 */
#pragma once

#include "base/str.h"

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

enum { API_CONNECTIONS = 64 };

struct api_connection {
    int fd; /* -1: closed */
    struct strbuf in;
};

struct api {
    int listen_fd; /* -1: nobody listens */
    int port_fd;   /* keeps the port for this API server while nobody listens there */
    uint16_t port;
    char url[64]; /* "http://127.0.0.1:41235" */
    struct api_connection connections[API_CONNECTIONS];
    unsigned count; /* connections so far, closed ones too */
};

/* One request, whole. */
struct api_call {
    struct api *api;
    unsigned connection; /* counted from 0 in the order of opening */
    struct strbuf text;  /* owned; what the following are parts of */
    struct str method, path, head, body;
};

void api_init(struct api *api);
void api_done(struct api *api);
/* Nobody listens any more, but connections go on; and listening again at the same address. The port
 * is kept in between: a client is refused there, and meets no server of another program. */
void api_deafen(struct api *api);
void api_listen(struct api *api);

/* Waits for the next request. What `call` held is freed first, so it must be all zero at first. */
void api_take(struct api *api, struct api_call *call);
/* The same; it must be this one. `path` may end in '*': then only what is before must be right. */
void api_expect(struct api *api, struct api_call *call, const char *method, const char *path);
/* Nothing has come that was not taken. */
bool api_is_quiet(struct api *api);
/* A header of the request, "" without it. */
struct str api_header(const struct api_call *call, const char *name);
void api_call_done(struct api_call *call);

/* A whole answer. `headers` are lines that end in \r\n, or "". */
void api_answer(struct api_call *call, int status, const char *headers, const char *body);
/* Bytes as they are. False: the other side is gone. */
bool api_say(struct api_call *call, const char *text);
/* Ends the connection, politely or with a reset. */
void api_close(struct api_call *call);
void api_reset(struct api_call *call);
/* Waits until the other side has ended the connection. */
void api_wait_gone(struct api_call *call);

/* Waits for a semaphore on any thread. False: it did not come within a minute. */
bool sem_comes(sem_t *sem);
/* Waits for a semaphore on the test's thread; fails the test with `what` after a minute. */
void wait_sem(sem_t *sem, const char *what);
