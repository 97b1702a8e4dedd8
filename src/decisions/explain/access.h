/*
 * Decides if a caller may read explanations. They name pods and nodes, so only callers with the
 * token, and callers on the machine itself, may read them. A person who may forward a port to the
 * pod counts as a caller on the machine.
 */
#pragma once

#include "base/err.h"
#include "http/http.h"

struct explain_access;

/* `token_file` is borrowed; NULL: no token. Returns 0, or -errno if the token cannot be read. */
int explain_access_new(const char *token_file, struct explain_access **ret,
                       struct err *err) MUST_CHECK;
void explain_access_free(struct explain_access *a); /* NULL is fine */

/* Reads the token again if its file changed. If it cannot be read, this is logged and the last
 * token stays in force. Call about once a second, from one thread. */
void explain_access_poll(struct explain_access *a);

/* May this caller read explanations? If not, answers the request with the reason and returns false.
 * Any thread. */
bool explain_access_check(struct explain_access *a, const struct http_request *request,
                          struct http_response *response);
