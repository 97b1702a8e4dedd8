#include "sim/hub/strand.h"

#include "base/mutex.h"
#include "base/random.h"

#include <assert.h>
#include <stdlib.h>
#include <ucontext.h>

enum {
    STACK_BYTES = 1 << 20,
    PAUSE_MS = 30, /* at an unlock, at the longest */
};

struct strand {
    ucontext_t here, back;
    void *(*fn)(void *arg);
    void *arg;
    bool ended;
    const struct condition *waits_for;
    unsigned mutexes;           /* that it holds */
    const struct rwlock *reads; /* that it holds */
    bool hurries;               /* somebody waits for that */
    int64_t at_ms;
    struct strand *next;
    char stack[STACK_BYTES];
};

static struct strand *strands, *newest, *running;
static struct clock *the_clock;
static unsigned pauses; /* of 1000 unlocks */
static uint64_t randomness;

/* The linker puts these in the place of what they are called after (--wrap). */
int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *arg),
                          void *arg);
int __wrap_pthread_join(pthread_t thread, void **ret);
void __wrap_condition_signal(struct condition *c);
void __wrap_condition_broadcast(struct condition *c);
void __wrap_condition_wait(struct condition *c, struct mutex *m);
bool __wrap_condition_wait_until(struct condition *c, struct mutex *m, int64_t until_ms);
struct clock *__wrap_clock_real(void);
void __real_mutex_lock(struct mutex *m);
void __real_mutex_unlock(struct mutex *m);
void __real_rwlock_read(struct rwlock *l);
void __real_rwlock_read_done(struct rwlock *l);
void __real_rwlock_write(struct rwlock *l);
void __wrap_mutex_lock(struct mutex *m);
void __wrap_mutex_unlock(struct mutex *m);
void __wrap_rwlock_read(struct rwlock *l);
void __wrap_rwlock_read_done(struct rwlock *l);
void __wrap_rwlock_write(struct rwlock *l);

struct clock *__wrap_clock_real(void) {
    return the_clock;
}

void strand_use_clock(struct clock *clock) {
    the_clock = clock;
}

void strand_pause_at_unlocks(unsigned per_mille, uint64_t seed) {
    pauses = per_mille;
    randomness = seed;
}

/* ---- life ---- */

static void enter(void) {
    struct strand *s = running;
    (void)s->fn(s->arg);
    s->ended = true;
    s->at_ms = INT64_MAX;
    (void)swapcontext(&s->here, &s->back); /* for ever */
}

int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *arg),
                          void *arg) {
    struct strand *s = calloc(1, sizeof *s);
    (void)attr; /* there are none */
    if (s == NULL || getcontext(&s->here) != 0)
        abort();
    s->fn = fn;
    s->arg = arg;
    s->here.uc_stack.ss_sp = s->stack;
    s->here.uc_stack.ss_size = sizeof s->stack;
    makecontext(&s->here, enter, 0);
    s->at_ms = the_clock->now_ms(the_clock);
    s->next = strands;
    strands = newest = s;
    *ret = (pthread_t)(uintptr_t)s;
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **ret) {
    struct strand *s = (struct strand *)(uintptr_t)thread, **at = &strands;
    (void)ret; /* nobody wants it */
    while (!s->ended)
        strand_run(s);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    free(s);
    return 0;
}

struct strand *strand_take_new(void) {
    struct strand *s = newest;
    newest = NULL;
    return s;
}

int64_t strand_at_ms(const struct strand *s) {
    return s->at_ms;
}

void strand_run(struct strand *s) {
    assert(running == NULL && !s->ended);
    running = s;
    (void)swapcontext(&s->back, &s->here);
    running = NULL;
}

bool strand_waits(const struct strand *s) {
    return s->waits_for != NULL || s->ended;
}

/* ---- locks ---- */

static void pause_for(struct strand *s, int64_t ms) {
    s->at_ms = the_clock->now_ms(the_clock) + ms;
    (void)swapcontext(&s->here, &s->back);
}

/* Others may run now: those that want its mutexes would wait for ever, as all are one thread. */
static void end_lock(struct strand *s) {
    if (s == NULL || s->mutexes > 0)
        return;
    if (s->hurries ? s->reads == NULL : random_below(&randomness, 1000) < pauses)
        pause_for(s, (int64_t)random_below(&randomness, s->hurries ? 1 : PAUSE_MS));
}

void __wrap_mutex_lock(struct mutex *m) {
    __real_mutex_lock(m);
    if (running != NULL)
        running->mutexes++;
}

void __wrap_mutex_unlock(struct mutex *m) {
    __real_mutex_unlock(m);
    if (running != NULL)
        running->mutexes--;
    end_lock(running);
}

void __wrap_rwlock_read(struct rwlock *l) {
    __real_rwlock_read(l);
    if (running != NULL)
        running->reads = l;
}

void __wrap_rwlock_read_done(struct rwlock *l) {
    __real_rwlock_read_done(l);
    if (running != NULL)
        running->reads = NULL;
    end_lock(running);
}

/* The strand that reads goes on until it has done that. */
static void wait_for(struct strand *s, const struct rwlock *l) {
    s->hurries = true;
    while (s->reads == l)
        strand_run(s);
    s->hurries = false;
}

void __wrap_rwlock_write(struct rwlock *l) {
    for (struct strand *s = strands; s != NULL && running == NULL; s = s->next)
        wait_for(s, l);
    __real_rwlock_write(l);
}

/* ---- conditions ---- */

void __wrap_condition_signal(struct condition *c) {
    for (struct strand *s = strands; s != NULL; s = s->next)
        if (s->waits_for == c)
            s->at_ms = INT64_MIN;
}

void __wrap_condition_broadcast(struct condition *c) {
    __wrap_condition_signal(c);
}

bool __wrap_condition_wait_until(struct condition *c, struct mutex *m,
                                 int64_t until_ms) NOT_ANALYSED {
    struct strand *s = running;
    assert(s != NULL); /* the simulation itself waits for nothing */
    s->waits_for = c;
    s->at_ms = until_ms;
    __real_mutex_unlock(m);
    (void)swapcontext(&s->here, &s->back);
    __real_mutex_lock(m);
    s->waits_for = NULL;
    return the_clock->now_ms(the_clock) < until_ms;
}

void __wrap_condition_wait(struct condition *c, struct mutex *m) {
    (void)__wrap_condition_wait_until(c, m, INT64_MAX);
}
