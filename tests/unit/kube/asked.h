/* A request of a test, and what became of it. */
#pragma once

#include "kube/client/client.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

struct asked {
    struct kube_request request;
    sem_t told, done; /* posted by on_head and on_done */
    _Atomic unsigned heads, ends;
    pthread_t thread; /* that on_done came on */
    /* what on_head and on_done said */
    int head_status, error, status;
    int64_t retry_after_ms;
    char error_text[256], content_type[128];
    struct strbuf body; /* also what on_data got */
    size_t enough;      /* on_data stops from this many bytes on */
};

/* A request without on_data; the test may change asked->request before it starts it. */
void asked_init(struct asked *asked, const char *method, const char *path);
/* From now on the body comes through on_data. */
void asked_stream(struct asked *asked);
/* Waits for on_done. */
void asked_wait(struct asked *asked);
void asked_done(struct asked *asked);
