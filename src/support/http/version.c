#include "http/http.h"

#include <gnutls/gnutls.h>
#include <microhttpd.h>

const char *http_server_version(void) {
    return MHD_get_version();
}

const char *http_tls_version(void) {
    return gnutls_check_version(NULL);
}
