#include "http/large.h"

#include "base/limits.h"
#include "base/list.h"
#include "http/listener.h"

#include <errno.h>
#include <stdlib.h>

struct large_questions {
    struct mutex mutex; /* guards the members below */
    struct condition wake;
    struct list waiting;
    bool stopping;
    unsigned thread_count;
    pthread_t threads[];
};

/* A large request. Its connection is suspended, and so exists, until the answer. */
struct question {
    struct list link;
    struct connection *connection;
    struct http_deferral *deferral;
};

void large_refuse(struct http_response *response) {
    http_answer_text(response, MHD_HTTP_SERVICE_UNAVAILABLE,
                     "shutting down, or out of memory: try again");
    response->retry_after_s = 1;
}

static void give_up(struct question *question) {
    struct http_response response = {.text.max = LIMIT_HTTP_SMALL_ANSWER};
    large_refuse(&response);
    http_deferral_answer(question->deferral, &response);
    free(question);
}

/* Answers a request. If the client has closed the connection, the handler does not run, so that
 * other requests wait less. */
static void answer(struct question *question) {
    struct exchange *x = &question->connection->exchange;
    struct http_response response = {.text.max = LIMIT_REQUEST_ARENA};
    if (connection_is_gone(question->connection)) {
        give_up(question);
        return;
    }
    x->request.is_large = true;
    exchange_call(x, x->route->handle, x->ctx, &response);
    http_deferral_answer(question->deferral, &response);
    free(question);
}

static void *run(void *arg) {
    struct large_questions *q = arg;
    (void)pthread_setname_np(pthread_self(), "http-large"); /* for people */
    mutex_lock(&q->mutex);
    while (!q->stopping) {
        if (list_empty(&q->waiting)) {
            condition_wait(&q->wake, &q->mutex);
            continue;
        }
        struct question *question = LIST_ITEM(struct question, link, q->waiting.next);
        list_remove(&question->link);
        mutex_unlock(&q->mutex);
        answer(question);
        mutex_lock(&q->mutex);
    }
    mutex_unlock(&q->mutex);
    return NULL;
}

int large_start(unsigned threads, struct large_questions **ret, struct err *err) {
    struct large_questions *q = calloc(1, sizeof *q + threads * sizeof q->threads[0]);
    int r = 0;
    if (q == NULL)
        return err_set(err, -ENOMEM, "out of memory");
    condition_init(&q->wake);
    mutex_init(&q->mutex);
    list_init(&q->waiting);
    while (r == 0 && q->thread_count < threads) {
        r = pthread_create(&q->threads[q->thread_count], NULL, run, q);
        q->thread_count += r == 0;
    }
    if (r == 0) {
        *ret = q;
        return 0;
    }
    large_free(q);
    return err_set_errno(err, r, "cannot start a thread for large questions");
}

unsigned large_stop(struct large_questions *q) {
    unsigned count = 0;
    if (q == NULL)
        return 0;
    mutex_lock(&q->mutex);
    q->stopping = true; /* so nobody adds to the list any more */
    condition_broadcast(&q->wake);
    mutex_unlock(&q->mutex);
    for (unsigned i = 0; i < q->thread_count; i++)
        (void)pthread_join(q->threads[i], NULL);
    q->thread_count = 0;
    for (; !list_empty(&q->waiting); count++) {
        struct question *question = LIST_ITEM(struct question, link, q->waiting.next);
        list_remove(&question->link);
        give_up(question);
    }
    return count;
}

void large_free(struct large_questions *q) {
    if (q == NULL)
        return;
    (void)large_stop(q); /* their number does not matter */
    condition_done(&q->wake);
    mutex_done(&q->mutex);
    free(q);
}

bool large_is(const struct connection *c) {
    const struct exchange *x = &c->exchange;
    return c->listener->large != NULL && x->route->takes == HTTP_LARGE_JSON &&
           x->body.n > LIMIT_HTTP_LARGE_BODY;
}

bool large_take(struct connection *c) {
    struct large_questions *q = c->listener->large;
    struct question *question = malloc(sizeof *question);
    if (question == NULL)
        return false;
    mutex_lock(&q->mutex);
    *question = (struct question){.connection = c};
    if (!q->stopping)
        question->deferral = http_defer(&c->exchange.request);
    bool taken = question->deferral != NULL;
    if (taken) {
        list_append(&q->waiting, &question->link);
        condition_signal(&q->wake);
    }
    mutex_unlock(&q->mutex);
    if (!taken)
        free(question);
    return taken;
}
