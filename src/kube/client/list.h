/*
 * Lists of an API server, page by page, for commands that ask once and wait.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "kube/client/client.h"

/* Gets one page, a list as JSON. It may take the page's memory, and leaves an empty buffer then. An
 * error ends the listing. */
typedef int kube_page_fn(void *ctx, struct strbuf *page, struct err *err);

/*
 * Lists what is at `path`, which may have a query, and calls `fn` for each page. Waits as
 * kube_call() does, so not on the client's thread. 0 and the last status: with another than 200
 * there are no more pages, and perhaps some are missing. -errno of the call or of `fn`; -EINVAL:
 * what the server sent is no list.
 */
int kube_list(struct kube_client *client, const char *path, kube_page_fn *fn, void *ctx,
              int *ret_status, struct err *err) MUST_CHECK;
