// SPDX-License-Identifier: MIT
#include <wslay/wslay.h>
