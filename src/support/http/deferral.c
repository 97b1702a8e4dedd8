/*
 * Answers that come later. The connection is suspended meanwhile, so its thread serves others; the
 * answer comes from any thread and wakes it up.
 *
 * One mutex guards all deferrals: they are few, and it is held for a short time. If an answer comes
 * while the listener stops, the thread that locks first finds `connection` set and answers; the
 * other finds NULL. The mutex also orders a handler that defers and a listener that gives up all
 * deferrals, because libmicrohttpd aborts if it is stopped with a suspended connection.
 */
#include "http/listener.h"

#include "base/mutex.h"

#include <stdlib.h>

struct http_deferral {
    struct connection *connection; /* NULL: the request was already answered by another thread */
    struct http_deferral *next, **link;
};

static struct mutex lock = MUTEX_INITIALIZER;

struct http_deferral *http_defer(const struct http_request *request) {
    struct connection *c = request->transport;
    struct http_deferral *d = c != NULL ? calloc(1, sizeof *d) : NULL;
    if (d == NULL)
        return NULL;
    d->connection = c;
    mutex_lock(&lock);
    bool possible = !c->listener->deferrals_over;
    if (possible) {
        d->next = c->listener->deferrals;
        d->link = &c->listener->deferrals;
        if (d->next != NULL)
            d->next->link = &d->next;
        c->listener->deferrals = d;
        c->exchange.phase = EXCHANGE_DEFERRED;
        MHD_suspend_connection(c->mhd);
    }
    mutex_unlock(&lock);
    if (possible)
        return d;
    free(d);
    return NULL;
}

/* Removes the deferral from the list, and returns its connection. */
static struct connection *take_out(struct http_deferral *d) REQUIRES(lock) {
    struct connection *c = d->connection;
    *d->link = d->next;
    if (d->next != NULL)
        d->next->link = d->link;
    d->connection = NULL;
    return c;
}

/* Sets the answer before MHD_resume_connection(), so that the connection's thread sees it. */
static void answer(struct http_deferral *d, const struct http_response *response) REQUIRES(lock) {
    struct connection *c = take_out(d);
    strbuf_done(&c->exchange.response.text);
    c->exchange.response = *response;
    MHD_resume_connection(c->mhd);
}

void http_deferral_answer(struct http_deferral *d, struct http_response *response) {
    mutex_lock(&lock);
    if (d->connection != NULL)
        answer(d, response);
    else
        strbuf_done(&response->text);
    mutex_unlock(&lock);
    free(d);
}

void http_deferral_resume(struct http_deferral *d, const struct http_continuation *next) {
    mutex_lock(&lock);
    bool waits = d->connection != NULL;
    if (waits) {
        struct connection *c = take_out(d);
        c->exchange.next = *next;
        MHD_resume_connection(c->mhd);
    }
    mutex_unlock(&lock);
    free(d);
    if (!waits)
        next->drop(next->ctx);
}

unsigned deferrals_give_up(struct http_listener *l) {
    unsigned count = 0;
    mutex_lock(&lock);
    l->deferrals_over = true;
    for (struct http_deferral *next, *d = l->deferrals; d != NULL; d = next, count++) {
        struct http_response response = {.text.max = 1024};
        next = d->next;
        http_answer_text(&response, MHD_HTTP_SERVICE_UNAVAILABLE, "shutting down");
        answer(d, &response);
    }
    mutex_unlock(&lock);
    return count;
}
