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
    const char *name;              /* of the files */
    const char *issuer;            /* another name in the folder; NULL: self-signed */
    const char *cn, *second_cn;    /* subject; NULL: none */
    const char *dns, *email, *uri; /* alternative names, or NULL */
    bool ca;
    bool rsa;                      /* a key of 2048 bits instead of one on P-256 */
    bool for_clients, for_servers; /* extended key usage; neither: no such extension */
    int from_s, to_s;              /* validity, seconds from now; both 0: an hour ago to an hour */
    unsigned many_names;           /* that many DNS names of 240 bytes before */
    unsigned char serial;          /* 0: 1 */
};

void pki_init(struct pki *pki);
void pki_make(const struct pki *pki, const struct pki_wish *wish);
/* The same, of a chain of n certificates in the .pem: each is signed by the one behind it, the last
 * one by wish->issuer. */
void pki_make_chain(const struct pki *pki, const struct pki_wish *wish, unsigned n);
/* Path of a file in the folder, good until the eighth call after. */
const char *pki_path(const struct pki *pki, const char *file);
/* Puts a copy of one file over another: by writing (a new inode), as certificate tools do. */
void pki_copy(const struct pki *pki, const char *from, const char *to);
/* Removes the folder and everything in it. */
void pki_done(struct pki *pki);
