/*
 * Large questions, on threads of their own. A question of megabytes takes tens of milliseconds;
 * meanwhile the worker that has its connection would serve nobody else, and every small question
 * that happens to come to that worker would wait as long. So the worker hands a large question over
 * and goes on, and small ones wait for each other only.
 *
 * Large questions wait in one queue, in the order in which they came.
 *
 * Threads: of a connection, its worker; everything else from the listener's owner.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct connection;
struct http_response;
struct large_questions;

/* -errno with a sentence in *err. */
int large_start(unsigned threads, struct large_questions **ret, struct err *err);

/* Ends the threads. What is being handled is finished, what waits is answered with 503; from now on
 * nothing is taken. Returns the number of those that waited. NULL is fine, here and below. */
unsigned large_stop(struct large_questions *q);
void large_free(struct large_questions *q); /* and before that, stop */

/* Is the connection's request, which has arrived whole, one of those? */
bool large_is(const struct connection *c);
/* Takes it: the connection is suspended until it is answered. False: it is to be refused, as the
 * listener stops or memory is out. */
bool large_take(struct connection *c);
void large_refuse(struct http_response *response);
