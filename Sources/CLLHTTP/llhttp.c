// SPDX-License-Identifier: MIT
#include "/usr/share/llhttp/llhttp.c"
