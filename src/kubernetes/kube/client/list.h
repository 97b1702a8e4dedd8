/*
 * Lists objects of an API server, page by page, for commands that ask once and wait.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "kube/client/client.h"

/* Receives one page, a list as JSON. The function may take over the page's memory; then it must
 * leave an empty buffer. An error ends the listing. */
typedef int kube_page_fn(void *ctx, struct strbuf *page, struct err *err);

struct kube_listing {
    const char *path;   /* may have a query */
    uint32_t max_pages; /* 0: enough for LIMIT_LISTED objects */
    uint64_t max_bytes; /* bytes of all pages together; 0: LIMIT_STATE_BYTES */
};

/*
 * Lists the objects at a path and calls `fn` for each page. Waits like kube_call(), so do not call
 * it on the client's thread. Returns 0 and the status of the last answer; if this is not 200, pages
 * may be missing. Or returns -errno of the call or of `fn`; -EINVAL: the answer is no list, or
 * repeats its pages; -EFBIG: the list has more pages or bytes than allowed. Before an error, `fn`
 * has received the earlier pages.
 */
int kube_list(struct kube_client *client, const struct kube_listing *listing, kube_page_fn *fn,
              void *ctx, int *ret_status, struct err *err) MUST_CHECK;
