#include "certs/bundle.h"

#include "certs/ssl.h"

#include <errno.h>
#include <openssl/pem.h>

static bool contains(const struct stack_st_X509 *stack, const X509 *x) {
    for (int i = 0; i < sk_X509_num(stack); i++)
        if (X509_cmp(sk_X509_value(stack, i), x) == 0)
            return true;
    return false;
}

/* Moves to `to` the certificates that have not ended and that `to` lacks, until it has BUNDLE_MAX.
 * Returns false if memory runs out. */
static bool take(struct stack_st_X509 *from, int64_t now_s, struct stack_st_X509 *to) {
    while (sk_X509_num(from) > 0) {
        CLEANUP(ssl_free_certificate) X509 *x = sk_X509_shift(from);
        if (ssl_time(X509_get0_notAfter(x)) <= now_s || contains(to, x) ||
            sk_X509_num(to) >= BUNDLE_MAX)
            continue;
        if (sk_X509_push(to, x) == 0)
            return false;
        x = NULL;
    }
    return true;
}

static int write_all(const struct stack_st_X509 *stack, struct strbuf *ret, struct err *err) {
    CLEANUP(ssl_free_bio) BIO *bio = BIO_new(BIO_s_mem());
    bool good = bio != NULL;
    for (int i = 0; good && i < sk_X509_num(stack); i++)
        good = PEM_write_bio_X509(bio, sk_X509_value(stack, i)) == 1;
    if (!good)
        return ssl_error(err, -EIO, "cannot write a CA bundle as PEM");
    ssl_append_bio(bio, ret);
    return strbuf_failed(ret) ? err_set(err, -ENOMEM, "no memory for a CA bundle") : 0;
}

int bundle_join(const struct str *pems, size_t count, int64_t now_s, struct strbuf *ret,
                struct err *err) {
    CLEANUP(ssl_free_certificates) struct stack_st_X509 *all = sk_X509_new_null();
    if (all == NULL)
        return ssl_error(err, -ENOMEM, "no memory for a CA bundle");
    for (size_t i = 0; i < count; i++) {
        CLEANUP(ssl_free_certificates) struct stack_st_X509 *some = NULL;
        if (ssl_read_certificates(pems[i], &some, NULL) == 0 && !take(some, now_s, all))
            return ssl_error(err, -ENOMEM, "no memory for a CA bundle");
    }
    return write_all(all, ret, err);
}

static bool contains_all(const struct stack_st_X509 *a, const struct stack_st_X509 *b) {
    for (int i = 0; i < sk_X509_num(b); i++)
        if (!contains(a, sk_X509_value(b, i)))
            return false;
    return true;
}

bool bundle_same(struct str a, struct str b) {
    CLEANUP(ssl_free_certificates) struct stack_st_X509 *ours = NULL;
    CLEANUP(ssl_free_certificates) struct stack_st_X509 *theirs = NULL;
    return ssl_read_certificates(a, &ours, NULL) == 0 &&
           ssl_read_certificates(b, &theirs, NULL) == 0 && contains_all(ours, theirs) &&
           contains_all(theirs, ours);
}
