/*
 * Locks and conditions for threads. Errors of pthreads mean that a lock is misused, so these
 * functions abort instead of returning them. clang's -Wthread-safety checks the annotations: every
 * path unlocks what it locks, and never twice. (In C it cannot check which members a lock guards;
 * the lock's comment names these members.)
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __clang__
#define THREAD_ANNOTATION(x) __attribute__((x))
#else
#define THREAD_ANNOTATION(x)
#endif

#define CAPABILITY(name) THREAD_ANNOTATION(capability(name))
#define ACQUIRES(lock) THREAD_ANNOTATION(acquire_capability(lock))
#define ACQUIRES_SHARED(lock) THREAD_ANNOTATION(acquire_shared_capability(lock))
#define RELEASES(lock) THREAD_ANNOTATION(release_capability(lock))
#define RELEASES_SHARED(lock) THREAD_ANNOTATION(release_shared_capability(lock))
#define REQUIRES(lock) THREAD_ANNOTATION(requires_capability(lock))
/* For functions that the analysis cannot follow: new and free functions, and locks that are taken
 * on some paths only. */
#define NOT_ANALYSED THREAD_ANNOTATION(no_thread_safety_analysis)

struct CAPABILITY("mutex") mutex {
    pthread_mutex_t native;
};

/* A static mutex needs no mutex_init(). */
#define MUTEX_INITIALIZER                                                                          \
    { PTHREAD_MUTEX_INITIALIZER }

void mutex_init(struct mutex *m);
void mutex_done(struct mutex *m); /* no thread may hold it */
void mutex_lock(struct mutex *m) ACQUIRES(m);
void mutex_unlock(struct mutex *m) RELEASES(m);

/* A condition that threads wait for; time limits are times of CLOCK_MONOTONIC. A wait may end
 * without a signal: check again in a loop. */
struct condition {
    pthread_cond_t native;
};

void condition_init(struct condition *c);
void condition_done(struct condition *c); /* no thread may wait */
void condition_signal(struct condition *c);
void condition_broadcast(struct condition *c);
void condition_wait(struct condition *c, struct mutex *m) REQUIRES(m);
/* Returns false when `until_ms` of clock_real() has passed. */
bool condition_wait_until(struct condition *c, struct mutex *m, int64_t until_ms) REQUIRES(m);

/* A lock for many readers or one writer. Waiting writers go first, so a thread must not take the
 * read lock twice. */
struct CAPABILITY("rwlock") rwlock {
    pthread_rwlock_t native;
};

void rwlock_init(struct rwlock *l);
void rwlock_done(struct rwlock *l); /* no thread may hold it */
void rwlock_read(struct rwlock *l) ACQUIRES_SHARED(l);
void rwlock_read_done(struct rwlock *l) RELEASES_SHARED(l);
void rwlock_write(struct rwlock *l) ACQUIRES(l);
void rwlock_write_done(struct rwlock *l) RELEASES(l);
