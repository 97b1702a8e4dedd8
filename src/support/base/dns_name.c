#include "base/dns_name.h"

enum { LABEL_MAX = 63, SUBDOMAIN_MAX = 253 };

bool dns_subdomain_valid(struct str s) {
    if (s.n == 0 || s.n > SUBDOMAIN_MAX)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        const char c = s.p[i];
        const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        const bool edge = i == 0 || i + 1 == s.n || s.p[i - 1] == '.' || s.p[i + 1] == '.';
        if (!alphanumeric && (edge || (c != '-' && c != '.')))
            return false;
    }
    return true;
}

bool dns_label_valid(struct str s) {
    return s.n <= LABEL_MAX && dns_subdomain_valid(s) && str_find(s, '.') == SIZE_MAX;
}
