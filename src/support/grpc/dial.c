/*
 * The dialer's thread. Other threads put orders into a queue, so that no thread waits for the
 * dialer.
 */
#include "grpc/dial_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { EVENTS = 64, TICK_MS = 1000 };

enum order_kind { ORDER_ADD, ORDER_REMOVE, ORDER_CALL };
struct order {
    struct list link;
    enum order_kind kind;
    struct grpc_peer *peer;
    struct grpc_call_request request; /* for ORDER_CALL; its strings follow this struct in memory */
    grpc_reply_fn *reply;
    void *ctx;
};

static void wake(struct grpc_dialer *d) {
    const uint64_t one = 1;
    (void)!write(d->wake_fd, &one, sizeof one); /* if it fails, the counter is full, and the thread
                                                   wakes anyway */
}

static void give_order(struct grpc_dialer *d, struct order *order) {
    mutex_lock(&d->lock);
    list_append(&d->orders, &order->link);
    mutex_unlock(&d->lock);
    wake(d);
}

/* ---- the thread ---- */

static void refuse(const struct order *order, const char *why) {
    order->reply(order->ctx, &(struct grpc_reply){.status = GRPC_UNAVAILABLE, .text = str_of(why)});
}

static void begin_call(const struct order *order) {
    struct grpc_peer *p = order->peer;
    struct err err = {0};
    const int64_t deadline_ms = order->request.deadline_ms;
    if (p->stage != GRPC_PEER_READY)
        refuse(order, "it is not connected");
    else if (grpc_client_call(p->client, &order->request, order->reply, order->ctx, &err) != 0)
        refuse(order, err.text);
    else if (deadline_ms < p->due_ms)
        p->due_ms = deadline_ms;
}

static void free_peer(struct grpc_peer *p, bool removed) {
    grpc_peer_disconnect(p);
    if (!removed)
        free(p->removal);
    list_remove(&p->link);
    free(p);
}

static void carry_out(struct grpc_dialer *d, struct order *order) {
    switch (order->kind) {
    case ORDER_ADD:
        list_append(&d->peers, &order->peer->link);
        grpc_peer_begin(order->peer);
        break;
    case ORDER_REMOVE:
        free_peer(order->peer, true);
        break;
    case ORDER_CALL:
        begin_call(order);
        break;
    }
    free(order);
}

static void take_orders(struct grpc_dialer *d, struct list *ret) {
    list_init(ret);
    mutex_lock(&d->lock);
    while (!list_empty(&d->orders)) {
        struct list *first = d->orders.next;
        list_remove(first);
        list_append(ret, first);
    }
    d->order_count = 0;
    mutex_unlock(&d->lock);
}

static void carry_out_orders(struct grpc_dialer *d) {
    struct list orders;
    take_orders(d, &orders);
    while (!list_empty(&orders)) {
        struct order *order = LIST_ITEM(struct order, link, orders.next);
        list_remove(&order->link);
        carry_out(d, order);
    }
}

/* Visits the peers that have something to do: their time has come, their look-up has ended, or
 * another look-up has ended, so that theirs may begin. Returns the time when the next peer has
 * something to do. */
static int64_t visit_peers(struct grpc_dialer *d) {
    int64_t next_ms = INT64_MAX;
    const int64_t now_ms = d->clock->now_ms(d->clock);
    bool has_place = true;
    for (struct list *l = d->peers.next; l != &d->peers; l = l->next) {
        struct grpc_peer *p = LIST_ITEM(struct grpc_peer, link, l);
        if (now_ms >= p->due_ms || p->stage == GRPC_PEER_LOOKS_UP || (p->is_queued && has_place) ||
            (p->client != NULL && grpc_client_output(p->client).n > 0))
            grpc_peer_go_on(p, false);
        has_place = has_place && !p->is_queued;
        next_ms = p->due_ms < next_ms ? p->due_ms : next_ms;
    }
    return next_ms;
}

static bool is_stopping(struct grpc_dialer *d) {
    mutex_lock(&d->lock);
    const bool stopping = d->stopping;
    mutex_unlock(&d->lock);
    return stopping;
}

static int wait_ms(const struct grpc_dialer *d, int64_t until_ms) {
    const int64_t now_ms = d->clock->now_ms(d->clock);
    return until_ms <= now_ms            ? 0
           : until_ms - now_ms < TICK_MS ? (int)(until_ms - now_ms)
                                         : TICK_MS;
}

static void *run(void *arg) {
    struct grpc_dialer *d = arg;
    struct epoll_event events[EVENTS];
    int64_t next_ms = INT64_MAX;
    while (!is_stopping(d)) {
        const int count = epoll_wait(d->poll_fd, events, EVENTS, wait_ms(d, next_ms));
        for (int i = 0; i < count; i++) {
            uint64_t times;
            if (events[i].data.ptr != NULL)
                grpc_peer_go_on(events[i].data.ptr, true);
            else
                (void)!read(d->wake_fd, &times,
                            sizeof times); /* the number of wake-ups does not matter */
        }
        carry_out_orders(d);
        next_ms = visit_peers(d);
    }
    carry_out_orders(d);
    while (!list_empty(&d->peers))
        free_peer(LIST_ITEM(struct grpc_peer, link, d->peers.next), false);
    return NULL;
}

/* ---- life ---- */

static int start(struct grpc_dialer *d, struct err *err) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    d->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    d->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (d->poll_fd < 0 || d->wake_fd < 0 ||
        epoll_ctl(d->poll_fd, EPOLL_CTL_ADD, d->wake_fd, &event) != 0)
        return err_set_errno(err, errno, "cannot wait for connections");
    const int r = pthread_create(&d->thread, NULL, run, d);
    d->started = r == 0;
    return r == 0 ? 0 : err_set_errno(err, r, "cannot start a thread");
}

int grpc_dialer_start(const struct grpc_dial_tls *tls, struct clock *clock,
                      struct grpc_dialer **ret, struct err *err) {
    struct grpc_dialer *d = calloc(1, sizeof *d);
    if (d == NULL)
        return err_set(err, -ENOMEM, "no memory for connections");
    d->tls = *tls;
    d->clock = clock;
    d->budget.max = LIMIT_GRPC_ALL_BYTES;
    list_init(&d->peers);
    list_init(&d->orders);
    mutex_init(&d->lock);
    condition_init(&d->changed);
    const int r = start(d, err);
    if (r == 0)
        *ret = d;
    else
        grpc_dialer_stop(d);
    return r;
}

void grpc_dialer_stop(struct grpc_dialer *d) {
    if (d == NULL)
        return;
    mutex_lock(&d->lock);
    d->stopping = true;
    mutex_unlock(&d->lock);
    if (d->started) {
        wake(d);
        (void)pthread_join(d->thread, NULL); /* fails for misuse only */
    }
    grpc_dial_credentials_unref(d->credentials);
    if (d->poll_fd >= 0)
        (void)close(d->poll_fd);
    if (d->wake_fd >= 0)
        (void)close(d->wake_fd);
    condition_done(&d->changed);
    mutex_done(&d->lock);
    free(d);
}

/* ---- peers ---- */

static struct order *new_order(enum order_kind kind, struct grpc_peer *p, size_t bytes) {
    struct order *order = calloc(1, sizeof *order + bytes);
    if (order == NULL)
        return NULL;
    list_init(&order->link);
    order->kind = kind;
    order->peer = p;
    return order;
}

static int set_addresses(struct grpc_peer *p, const char *const *addresses, size_t count,
                         struct err *err) {
    p->address_count = count;
    for (size_t i = 0; i < count; i++) {
        if (!lookup_split(addresses[i], p->host, p->port) ||
            strlen(addresses[i]) >= sizeof p->addresses[i])
            return err_set(err, -EINVAL, "'%s' is not HOST:PORT", addresses[i]);
        (void)snprintf(p->addresses[i], sizeof p->addresses[i], "%s", addresses[i]); /* fits */
    }
    return 0;
}

int grpc_peer_add(struct grpc_dialer *d, const char *const *addresses, size_t count,
                  struct grpc_peer **ret, struct err *err) {
    struct grpc_peer *p = calloc(1, sizeof *p);
    struct order *order = new_order(ORDER_ADD, p, 0);
    int r = p != NULL && order != NULL ? set_addresses(p, addresses, count, err)
                                       : err_set(err, -ENOMEM, "no memory for a connection");
    /* The order to remove the peer is allocated now, so that the removal needs no memory. */
    if (r == 0 && (p->removal = new_order(ORDER_REMOVE, p, 0)) == NULL)
        r = err_set(err, -ENOMEM, "no memory for a connection");
    if (r != 0) {
        free(order);
        free(p);
        return r;
    }
    list_init(&p->link);
    p->dialer = d;
    p->fd = -1;
    p->due_ms = INT64_MAX;
    *ret = p;
    give_order(d, order);
    return 0;
}

void grpc_peer_remove(struct grpc_peer *p) {
    if (p != NULL)
        give_order(p->dialer, p->removal);
}

void grpc_peer_report(struct grpc_peer *p, struct grpc_peer_report *ret) {
    mutex_lock(&p->dialer->lock);
    *ret = p->report;
    mutex_unlock(&p->dialer->lock);
}

void grpc_peer_await(struct grpc_peer *p, int64_t until_ms, struct grpc_peer_report *ret) {
    struct grpc_dialer *d = p->dialer;
    mutex_lock(&d->lock);
    while (p->report.stage != GRPC_PEER_READY && p->report.failures < p->address_count &&
           condition_wait_until(&d->changed, &d->lock, until_ms))
        continue;
    *ret = p->report;
    mutex_unlock(&d->lock);
}

/* ---- calls ---- */

static struct str copy_to(char **to, struct str text) {
    const struct str copy = {*to, text.n};
    if (text.n > 0)
        memcpy(*to, text.p, text.n);
    *to += text.n;
    return copy;
}

static struct order *new_call(struct grpc_peer *p, const struct grpc_call_request *request,
                              grpc_reply_fn *reply, void *ctx) {
    struct order *order =
        new_order(ORDER_CALL, p, request->path.n + request->object.n + request->message.n);
    if (order == NULL)
        return NULL;
    char *to = (char *)(order + 1);
    order->request = (struct grpc_call_request){.path = copy_to(&to, request->path),
                                                .object = copy_to(&to, request->object),
                                                .message = copy_to(&to, request->message),
                                                .deadline_ms = request->deadline_ms};
    order->reply = reply;
    order->ctx = ctx;
    return order;
}

int grpc_peer_call(struct grpc_peer *p, const struct grpc_call_request *request,
                   grpc_reply_fn *reply, void *ctx, struct err *err) {
    struct grpc_dialer *d = p->dialer;
    struct order *order = new_call(p, request, reply, ctx);
    int r = order != NULL ? 0 : err_set(err, -ENOMEM, "no memory for a call");
    mutex_lock(&d->lock);
    if (r == 0 && p->report.stage != GRPC_PEER_READY)
        r = err_set(err, -ENOTCONN, "it is not connected%s%s", p->report.failures > 0 ? ": " : "",
                    p->report.failures > 0 ? p->report.failure.text : "");
    else if (r == 0 && d->order_count >= LIMIT_GRPC_ORDERS)
        r = err_set(err, -ENOMEM, "too many calls wait");
    if (r == 0) {
        d->order_count++;
        list_append(&d->orders, &order->link);
    }
    mutex_unlock(&d->lock);
    if (r == 0)
        wake(d);
    else
        free(order);
    return r;
}
