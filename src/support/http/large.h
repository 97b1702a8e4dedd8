/*
 * Handles large requests ("questions") on their own threads. A request of megabytes takes tens of
 * milliseconds. If its worker handled it, all small requests on that worker would wait. So the
 * worker hands a large request over and goes on, and small requests wait only for each other.
 *
 * Large questions wait in one queue, in the order in which they came.
 *
 * Threads: functions with a connection run on its worker's thread; all other functions on the
 * thread of the listener's owner.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct connection;
struct http_response;
struct large_questions;

/* Returns 0, or -errno with a sentence in *err. */
int large_start(unsigned threads, struct large_questions **ret, struct err *err);

/* Ends the threads. Running requests are finished, waiting requests are answered with 503, and new
 * ones are not taken. Returns the number of waiting requests. NULL is fine, here and below. */
unsigned large_stop(struct large_questions *q);
void large_free(struct large_questions *q); /* call large_stop() before */

/* Is the connection's request, which has arrived completely, a large one? */
bool large_is(const struct connection *c);
/* Takes the request: the connection is suspended until the answer. Returns false if the listener
 * stops or without memory: the caller must refuse the request. */
bool large_take(struct connection *c);
void large_refuse(struct http_response *response);
