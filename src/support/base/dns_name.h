/* Names of Kubernetes objects. */
#pragma once

#include "base/str.h"

/* Is it 1 to 63 characters from a-z, 0-9 and '-', without '-' at either end? upstream:
 * IsDNS1123Label */
bool dns_label_valid(struct str s);
/* Is it a list of labels of any length, separated by dots, 253 bytes at most? upstream:
 * apimachinery IsDNS1123Subdomain */
bool dns_subdomain_valid(struct str s);
