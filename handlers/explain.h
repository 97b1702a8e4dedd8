/*
 * The endpoints that answer "why there?", on the ops listener: the decisions about one pod, the
 * recent ones, and what would be decided. `ctx` of every handler is a struct explain.
 *
 * Answers name pods and nodes, so they are for callers on the machine itself, which whoever may
 * forward a port to the pod is too, and for those who know the token. Nothing is recorded or
 * changed by asking.
 */
#pragma once

#include "handlers/extender.h"
#include "handlers/webhook.h"
#include "http/http.h"

struct explain;

/* Both are borrowed: extender->decisions is what is explained, `webhook` admits the pods of a
 * what-if (NULL: nothing does). `token_file` NULL: there is no token. 0, or -errno when the token
 * cannot be read. */
int explain_new(const struct extender *extender, const struct webhook *webhook,
                const char *token_file, struct explain **ret, struct err *err) MUST_CHECK;
void explain_free(struct explain *e); /* NULL is fine */

/* Reads the token again if its file changed; one that cannot be read is logged, and the old one
 * stays. About once a second, from one thread. */
void explain_poll(struct explain *e);

void explain_decisions(void *ctx, const struct http_request *request,
                       struct http_response *response);
void explain_pod(void *ctx, const struct http_request *request, struct http_response *response);
void explain_trial(void *ctx, const struct http_request *request, struct http_response *response);

/* Of this folder: may this caller read? Otherwise it has been refused. */
bool explain_may_read(struct explain *e, const struct http_request *request,
                      struct http_response *response);
const struct extender *explain_extender(const struct explain *e);
/* NULL: nothing admits pods. */
const struct webhook *explain_webhook(const struct explain *e);
/* Writes "replica": who answers. */
void explain_put_replica(const struct explain *e, struct json_writer *w);
