#include "base/mutex.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* Continuing after misuse of a lock would corrupt the guarded data. */
static void must(int r) {
    if (r != 0)
        abort();
}

void mutex_init(struct mutex *m) {
    must(pthread_mutex_init(&m->native, NULL));
}

void mutex_done(struct mutex *m) {
    must(pthread_mutex_destroy(&m->native));
}

void mutex_lock(struct mutex *m) NOT_ANALYSED {
    must(pthread_mutex_lock(&m->native));
}

void mutex_unlock(struct mutex *m) NOT_ANALYSED {
    must(pthread_mutex_unlock(&m->native));
}

void condition_init(struct condition *c) {
    pthread_condattr_t attributes;
    must(pthread_condattr_init(&attributes));
    must(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC));
    must(pthread_cond_init(&c->native, &attributes));
    must(pthread_condattr_destroy(&attributes));
}

void condition_done(struct condition *c) {
    must(pthread_cond_destroy(&c->native));
}

void condition_signal(struct condition *c) {
    must(pthread_cond_signal(&c->native));
}

void condition_broadcast(struct condition *c) {
    must(pthread_cond_broadcast(&c->native));
}

void condition_wait(struct condition *c, struct mutex *m) {
    must(pthread_cond_wait(&c->native, &m->native));
}

bool condition_wait_until(struct condition *c, struct mutex *m, int64_t until_ms) {
    const struct timespec until = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    int r = pthread_cond_timedwait(&c->native, &m->native, &until);
    must(r == ETIMEDOUT ? 0 : r);
    return r == 0;
}

void rwlock_init(struct rwlock *l) {
    pthread_rwlockattr_t attributes;
    must(pthread_rwlockattr_init(&attributes));
    must(pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
    must(pthread_rwlock_init(&l->native, &attributes));
    must(pthread_rwlockattr_destroy(&attributes));
}

void rwlock_done(struct rwlock *l) {
    must(pthread_rwlock_destroy(&l->native));
}

void rwlock_read(struct rwlock *l) NOT_ANALYSED {
    must(pthread_rwlock_rdlock(&l->native));
}

void rwlock_read_done(struct rwlock *l) NOT_ANALYSED {
    must(pthread_rwlock_unlock(&l->native));
}

void rwlock_write(struct rwlock *l) NOT_ANALYSED {
    must(pthread_rwlock_wrlock(&l->native));
}

void rwlock_write_done(struct rwlock *l) NOT_ANALYSED {
    must(pthread_rwlock_unlock(&l->native));
}
