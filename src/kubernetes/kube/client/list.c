#include "kube/client/list.h"

#include "base/arena.h"
#include "base/json_fields.h"
#include "base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TOKEN_SIZE = 2048 };

/* Can the token be part of a URL without escapes? API servers write such tokens. */
static bool is_plain(struct str token) {
    for (size_t i = 0; i < token.n; i++) {
        char c = token.p[i], lower = (char)(c | 0x20);
        if (!(c >= '0' && c <= '9') && !(lower >= 'a' && lower <= 'z') && c != '-' && c != '_' &&
            c != '=')
            return false;
    }
    return true;
}

/* Replaces the token in `ret` by the page's metadata.continue; "" on the last page. */
static int read_token(struct str page, const char *path, char ret[static TOKEN_SIZE],
                      struct err *err) {
    static const struct json_field fields[] = {JSON_TEXT_ALONE("continue")};
    CLEANUP(arena_done) struct arena arena;
    struct json_reader r;
    struct str key, token = {0};
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    json_reader_init(&r, page, &arena, path);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("metadata")))
                json_fields(&r, &JSON_ROWS(fields), &token);
        }
    int failed = json_finish(&r, err);
    if (failed != 0)
        return failed;
    if (token.n >= TOKEN_SIZE || !is_plain(token))
        return err_set(err, -EINVAL, "the list of %s has a continue token that cannot be used",
                       path);
    if (token.n > 0 && str_eq(token, str_of(ret)))
        return err_set(err, -EINVAL, "the list of %s goes on with the same page again", path);
    if (token.n > 0)
        memcpy(ret, token.p, token.n);
    ret[token.n] = '\0';
    return 0;
}

/* The pages and bytes of a listing so far. */
struct progress {
    uint32_t pages;
    uint64_t bytes;
};

/* Counts one more page. Returns 0 or -EFBIG. */
static int count_page(const struct kube_listing *listing, const struct strbuf *page,
                      struct progress *so_far, struct err *err) {
    const uint32_t most =
        listing->max_pages != 0 ? listing->max_pages : LIMIT_LISTED / LIMIT_KUBE_PAGE_OBJECTS;
    const uint64_t bytes = listing->max_bytes != 0 ? listing->max_bytes : LIMIT_STATE_BYTES;
    so_far->bytes += page->n;
    if (so_far->pages++ == most)
        return err_set(err, -EFBIG, "the list of %s does not end: it has more than %u pages",
                       listing->path, most);
    if (so_far->bytes > bytes)
        return err_set(err, -EFBIG, "the list of %s does not end: it has more than %llu bytes",
                       listing->path, (unsigned long long)bytes);
    return 0;
}

int kube_list(struct kube_client *client, const struct kube_listing *listing, kube_page_fn *fn,
              void *ctx, int *ret_status, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf page = {.max = LIMIT_KUBE_PAGE};
    CLEANUP(strbuf_done) struct strbuf url = {.max = TOKEN_SIZE + 1024};
    const char *path = listing->path;
    char token[TOKEN_SIZE] = "";
    struct progress so_far = {.pages = 0};
    int r;
    do {
        strbuf_clear(&url);
        strbuf_appendf(&url, "%s%climit=%d%s%s", path, strchr(path, '?') != NULL ? '&' : '?',
                       LIMIT_KUBE_PAGE_OBJECTS, token[0] != '\0' ? "&continue=" : "", token);
        strbuf_append_char(&url, '\0');
        if (strbuf_failed(&url))
            return err_set(err, -ENOMEM, "no memory for a list's path");
        page.max = LIMIT_KUBE_PAGE; /* set again, because fn may have taken the buffer */
        strbuf_clear(&page);
        r = kube_call(client, "GET", url.p, STR(""), &page, ret_status, err);
        if (r == 0 && *ret_status != 200)
            break;
        if (r == 0)
            r = count_page(listing, &page, &so_far, err);
        if (r == 0)
            r = read_token(strbuf_str(&page), path, token, err);
        if (r == 0)
            r = fn(ctx, &page, err);
    } while (r == 0 && token[0] != '\0');
    return r;
}
