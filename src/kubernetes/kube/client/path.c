#include "kube/client/path.h"

bool kube_path_segment(struct str name) {
    if (name.n == 0 || name.n > 253)
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!((name.p[i] >= 'a' && name.p[i] <= 'z') || (name.p[i] >= '0' && name.p[i] <= '9') ||
              name.p[i] == '-' || name.p[i] == '.'))
            return false;
    return name.p[0] != '.';
}
