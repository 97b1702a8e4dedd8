/*
 * A listener for tests, with handlers that do one simple thing each:
 *
 *     POST /echo    the body back; JSON only          GET  /hello   "hello"
 *     POST /raw     the body back; any type           GET  /tree/ *  the path, query and X-Test
 *     POST /pieces  the body back, byte by byte       GET  /who     client, peer, loopback
 *     POST /gate    waits for the test, then echoes   GET  /silent  no answer
 *     POST /large   an answer that does not fit       GET,PUT /both
 *     GET  /much    an answer of MUCH bytes
 */
#pragma once

#include "http/http.h"

#include <semaphore.h>

enum { MUCH = 16 << 20 }; /* bytes; more than the buffers of sockets take */

struct served {
    struct http_listener_options options;
    struct clock *clock; /* borrowed; the machine's clock until the test sets another one */
    struct http_listener *listener;
    sem_t entered, leave; /* for /gate: the handler posts `entered` and waits for `leave` */
};

/* Sets options that suit most tests; a test may change them before served_start(). */
void served_init(struct served *s);
/* Fails the test if the listener does not start. */
void served_start(struct served *s);
/* Stops the listener if it still runs. */
void served_done(struct served *s);
const char *served_address(const struct served *s);
/* Waits until a listener with one thread has done all work for the bytes that were sent before. The
 * number of its connections is the same as before. */
void served_catch_up(struct served *s);

/* Returns the value of a series in the text of metrics_render(), or -1 if it is missing. */
double metric_now(const char *series);
/* Waits until the series has this value; fails the test after a minute. */
void metric_becomes(const char *series, double value);
