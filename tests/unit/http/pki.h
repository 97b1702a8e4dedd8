/*
 * Certificates for tests, made in the process (no openssl command, no waiting): a temporary folder
 * with NAME.pem and NAME.key.
 */
#pragma once

#include <stdbool.h>

struct pki {
    char folder[64];
};

struct pki_wish {
    const char *name;              /* the name of the files, without .pem and .key */
    const char *issuer;            /* another name in the folder; NULL: self-signed */
    const char *cn, *second_cn;    /* common names of the subject; NULL: none */
    const char *dns, *email, *uri; /* alternative names, or NULL */
    bool ca;
    bool rsa; /* a key of 2048 bits instead of a key on P-256 */
    bool for_clients,
        for_servers; /* extended key usage; if both are false, there is no such extension */
    int from_s,
        to_s; /* validity, in seconds from now; both 0: from an hour ago to an hour from now */
    unsigned many_names;  /* number of DNS names of 240 bytes before the other names */
    unsigned char serial; /* 0: the serial number is 1 */
};

void pki_init(struct pki *pki);
void pki_make(const struct pki *pki, const struct pki_wish *wish);
/* The same as pki_make() with a chain of n certificates in the .pem: the next certificate signs
 * each certificate, and wish->issuer signs the last. */
void pki_make_chain(const struct pki *pki, const struct pki_wish *wish, unsigned n);
/* Returns the path of a file in the folder, valid for the next seven calls. */
const char *pki_path(const struct pki *pki, const char *file);
/* Replaces a file by a copy of another file, which has a new inode, as certificate tools do. */
void pki_copy(const struct pki *pki, const char *from, const char *to);
/* Removes the folder and everything in it. */
void pki_done(struct pki *pki);
