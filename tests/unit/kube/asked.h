/* A request of a test, and its result. */
#pragma once

#include "kube/client/client.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

struct asked {
    struct kube_request request;
    sem_t told, done; /* posted by on_head and on_done */
    _Atomic unsigned heads, ends;
    pthread_t thread; /* the thread that called on_done */
    /* the arguments of on_head and on_done */
    int head_status, error, status;
    int64_t retry_after_ms;
    char error_text[256], content_type[128];
    struct strbuf body; /* also has the bytes of on_data */
    size_t enough;      /* on_data stops the request when it has this number of bytes */
};

/* Prepares a request without on_data; the test may change asked->request before it starts the
 * request. */
void asked_init(struct asked *asked, const char *method, const char *path);
/* Makes the body arrive through on_data. */
void asked_stream(struct asked *asked);
/* Waits for on_done. */
void asked_wait(struct asked *asked);
void asked_done(struct asked *asked);
