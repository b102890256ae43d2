// SPDX-License-Identifier: MIT
#include <nghttp2/nghttp2.h>
