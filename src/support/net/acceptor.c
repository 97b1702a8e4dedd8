/*
 * The thread waits on two descriptors: the listening socket and an eventfd that says stop. When the
 * process or the machine has no descriptor left, accept(2) fails while the socket stays ready; the
 * thread then waits a moment for the eventfd alone; otherwise it would loop without a pause.
 */
#include "net/acceptor.h"

#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { RETRY_MS = 100 }; /* how long to wait for descriptors or memory to come back */
enum { SERIES = 16 };    /* connections taken before looking again whether to stop */

struct acceptor {
    int listen_fd, stop_fd; /* owned */
    pthread_t thread;
    acceptor_fn *accepted;
    void *ctx;
};

/* Accepts waiting connections, at most SERIES. Returns false if it can accept nothing for now. */
static bool accept_series(struct acceptor *a) {
    for (int i = 0; i < SERIES; i++) {
        struct sockaddr_storage peer;
        socklen_t length = sizeof peer;
        int fd =
            accept4(a->listen_fd, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            a->accepted(a->ctx, fd, (struct sockaddr *)&peer, length);
            continue;
        }
        if (errno == EAGAIN)
            return true;
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            char why[128];
            LOG_W("cannot accept connections for now",
                  LOG_CSTR("err", strerror_r(errno, why, sizeof why)),
                  LOG_CSTR("advice", "raise the limit of open files (ulimit -n, LimitNOFILE=) or "
                                     "of memory, or lower limits.connections"));
            return false;
        }
        /* otherwise the client closed the connection before we accepted it: try the next one */
    }
    return true;
}

static void *run(void *arg) {
    struct acceptor *a = arg;
    (void)pthread_setname_np(pthread_self(), "http-acceptor"); /* for people */
    struct pollfd both[] = {{a->stop_fd, POLLIN, 0}, {a->listen_fd, POLLIN, 0}};
    bool able = true;
    while ((both[0].revents & POLLIN) == 0) {
        int n = able ? poll(both, 2, -1) : poll(both, 1, RETRY_MS);
        if (n < 0)
            continue; /* a signal */
        if (!able || (both[1].revents & POLLIN) != 0)
            able = accept_series(a);
    }
    return NULL;
}

int acceptor_start(int listen_fd, acceptor_fn *accepted, void *ctx, struct acceptor **ret,
                   struct err *err) {
    struct acceptor *a = malloc(sizeof *a);
    if (a == NULL)
        return err_set(err, -ENOMEM, "cannot accept connections: out of memory");
    *a = (struct acceptor){.listen_fd = listen_fd, .accepted = accepted, .ctx = ctx};
    a->stop_fd = eventfd(0, EFD_CLOEXEC);
    int r = a->stop_fd < 0 ? errno : pthread_create(&a->thread, NULL, run, a);
    if (r != 0) {
        if (a->stop_fd >= 0)
            (void)close(a->stop_fd); /* nothing was written to it */
        free(a);
        return err_set_errno(err, r, "cannot start the thread that accepts connections");
    }
    *ret = a;
    return 0;
}

void acceptor_stop(struct acceptor *a) {
    if (a == NULL)
        return;
    (void)eventfd_write(a->stop_fd, 1);  /* cannot fail: the counter is 0 */
    (void)pthread_join(a->thread, NULL); /* joined once, by the owner */
    (void)close(a->listen_fd);           /* nothing can be lost on a listening socket */
    (void)close(a->stop_fd);
    free(a);
}
