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

enum { MUCH = 16 << 20 }; /* more than the buffers of sockets take */

struct served {
    struct http_listener_options options;
    struct clock *clock; /* borrowed; the machine's unless it is changed before served_start() */
    struct http_listener *listener;
    sem_t entered, leave; /* of /gate: the handler posts the first and waits for the second */
};

/* Options that suit most tests, to be changed before served_start(). */
void served_init(struct served *s);
/* Fails the test if the listener does not start. */
void served_start(struct served *s);
/* Stops it if it is still there. */
void served_done(struct served *s);
const char *served_address(const struct served *s);
/* Waits until a listener of one thread has done all that what was sent before makes it do. Its
 * connections are again as many as before. */
void served_catch_up(struct served *s);

/* The value of a series in metrics_render()'s text, -1 when it is not there. */
double metric_now(const char *series);
/* Waits until it has this value; fails the test after a minute. */
void metric_becomes(const char *series, double value);
