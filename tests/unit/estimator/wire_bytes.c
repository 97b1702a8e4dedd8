#include "unit/estimator/wire_bytes.h"

struct hex_pool hex_pool;
