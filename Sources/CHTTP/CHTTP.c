// SPDX-License-Identifier: MIT
// The module is its header: both libraries are used as they are.
#include "CHTTP.h"
