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

struct kube_listing {
    const char *path;   /* may have a query */
    uint32_t max_pages; /* 0: as many as LIMIT_LISTED objects take */
    uint64_t max_bytes; /* of all pages; 0: LIMIT_STATE_BYTES */
};

/*
 * Lists what is at a path and calls `fn` for each page. Waits as kube_call() does, so not on the
 * client's thread. 0 and the last status: with another than 200 there are no more pages, and
 * perhaps some are missing. -errno of the call or of `fn`; -EINVAL: what the server sent is no
 * list, or one whose pages are the same again; -EFBIG: one of more pages or bytes than may be,
 * which does not end. `fn` has had the pages before.
 */
int kube_list(struct kube_client *client, const struct kube_listing *listing, kube_page_fn *fn,
              void *ctx, int *ret_status, struct err *err) MUST_CHECK;
