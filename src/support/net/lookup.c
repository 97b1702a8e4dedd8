#include "net/lookup.h"

#include "base/limits.h"
#include "base/mutex.h"
#include "base/str.h"

#include <errno.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic unsigned running;

struct lookup {
    char host[LOOKUP_HOST_SIZE], port[LOOKUP_PORT_SIZE];
    int event_fd;      /* the thread's own */
    struct mutex lock; /* guards the rest */
    unsigned references;
    bool ended;
    int code; /* of getaddrinfo(3) */
    struct lookup_found found;
};

bool lookup_split(const char *address, char host[LOOKUP_HOST_SIZE], char port[LOOKUP_PORT_SIZE]) {
    const char *colon = strrchr(address, ':');
    int64_t number;
    if (colon == NULL || !str_to_i64(str_of(colon + 1), &number) || number < 1 || number > 65535)
        return false;
    struct str name = {address, (size_t)(colon - address)};
    if (name.n > 2 && name.p[0] == '[' && name.p[name.n - 1] == ']')
        name = (struct str){name.p + 1, name.n - 2};
    else if (str_find(name, ':') != SIZE_MAX)
        return false;
    if (name.n == 0 || name.n >= LOOKUP_HOST_SIZE || str_find(name, '[') != SIZE_MAX ||
        str_find(name, ']') != SIZE_MAX)
        return false;
    (void)snprintf(host, LOOKUP_HOST_SIZE, "%.*s", (int)name.n, name.p); /* fits, as the next */
    (void)snprintf(port, LOOKUP_PORT_SIZE, "%u", (unsigned)number);
    return true;
}

static int resolve(struct lookup *l, int flags, struct lookup_found *ret) {
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *found;
    const int code = getaddrinfo(l->host, l->port, &hints, &found);
    if (code != 0)
        return code;
    for (const struct addrinfo *a = found; a != NULL && ret->count < LOOKUP_ADDRESSES;
         a = a->ai_next) {
        memcpy(&ret->items[ret->count].address, a->ai_addr, a->ai_addrlen);
        ret->items[ret->count++].length = a->ai_addrlen;
    }
    freeaddrinfo(found);
    return 0;
}

static void unref(struct lookup *l) {
    mutex_lock(&l->lock);
    const bool last = --l->references == 0;
    mutex_unlock(&l->lock);
    if (!last)
        return;
    mutex_done(&l->lock);
    free(l);
}

static void *run(void *arg) {
    struct lookup *l = arg;
    struct lookup_found found = {.count = 0};
    const int code = resolve(l, AI_ADDRCONFIG, &found);
    const uint64_t one = 1;
    mutex_lock(&l->lock);
    l->ended = true;
    l->code = code;
    l->found = found;
    mutex_unlock(&l->lock);
    atomic_fetch_sub(&running, 1);
    (void)!write(l->event_fd, &one, sizeof one); /* if it fails, the counter is full, and the caller
                                                    wakes anyway */
    (void)close(l->event_fd);
    unref(l);
    return NULL;
}

static int start_thread(struct lookup *l, int event_fd, struct err *err) {
    enum { STACK = 512 << 10 };
    pthread_attr_t attributes;
    pthread_t thread;
    if (atomic_fetch_add(&running, 1) >= LIMIT_LOOKUPS) {
        atomic_fetch_sub(&running, 1);
        return -EAGAIN;
    }
    l->references = 2;
    l->event_fd = dup(event_fd);
    int r = l->event_fd < 0 ? errno : pthread_attr_init(&attributes);
    if (r == 0) {
        (void)pthread_attr_setstacksize(&attributes, STACK); /* if it fails, the stack is larger */
        (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED); /* cannot fail */
        r = pthread_create(&thread, &attributes, run, l);
        (void)pthread_attr_destroy(&attributes);
    }
    if (r == 0)
        return 0;
    atomic_fetch_sub(&running, 1);
    l->references = 1;
    if (l->event_fd >= 0)
        (void)close(l->event_fd);
    (void)err_set_errno(err, r, "cannot start a thread");
    return -ENOMEM;
}

int lookup_start(const char *host, const char *port, int event_fd, struct lookup **ret,
                 struct err *err) {
    struct lookup *l = calloc(1, sizeof *l);
    if (l == NULL)
        return err_set(err, -ENOMEM, "no memory for a look-up");
    mutex_init(&l->lock);
    l->references = 1;
    (void)snprintf(l->host, sizeof l->host, "%s", host); /* fits, as the next */
    (void)snprintf(l->port, sizeof l->port, "%s", port);
    l->ended = resolve(l, AI_NUMERICHOST, &l->found) == 0;
    const int r = l->ended ? 0 : start_thread(l, event_fd, err);
    if (r == 0)
        *ret = l;
    else
        unref(l);
    return r;
}

int lookup_result(struct lookup *l, struct lookup_found *ret, struct err *err) {
    int r = 0;
    mutex_lock(&l->lock);
    if (!l->ended)
        r = -EAGAIN;
    else if (l->code != 0)
        r = err_set(err, -ENXIO, "no address of '%s': %s", l->host, gai_strerror(l->code));
    else
        *ret = l->found;
    mutex_unlock(&l->lock);
    return r;
}

void lookup_free(struct lookup *l) {
    if (l != NULL)
        unref(l);
}
